import type { GmailMailboxes, MailboxDoc, MailboxFault, MailboxPart } from "../../models/gmailMailbox.ts";

/** Thrown when another process has acquired the mailbox. */
export class LeaseLost extends Error {
  override name = "LeaseLost";
}

/** The document of a mailbox whose lease this process holds. Keeps a current copy in `state`. Writes throw LeaseLost. */
export class LeasedMailbox {
  readonly #mailboxes: GmailMailboxes;
  readonly #token: string;
  #state: MailboxDoc;

  constructor(mailboxes: GmailMailboxes, token: string, state: MailboxDoc) {
    this.#mailboxes = mailboxes;
    this.#token = token;
    this.#state = state;
  }

  get state(): Readonly<MailboxDoc> {
    return this.#state;
  }

  async update(changes: Parameters<GmailMailboxes["update"]>[2], newestMailAt?: Date): Promise<void> {
    if (!(await this.#mailboxes.update(this.#state._id, this.#token, changes, newestMailAt))) throw new LeaseLost();
    const newest = newestMailAt && newestMailAt > (this.#state.newestMailAt ?? 0) ? { newestMailAt } : {};
    this.#state = { ...this.#state, ...changes, ...newest };
  }

  async setFault(part: MailboxPart, fault: MailboxFault | null): Promise<void> {
    if (!(await this.#mailboxes.updateFault(this.#state._id, this.#token, part, fault))) throw new LeaseLost();
    this.#state = { ...this.#state, faults: { ...this.#state.faults, [part]: fault } };
  }
}
