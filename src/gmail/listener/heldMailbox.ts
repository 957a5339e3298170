import type { GmailMailboxes, MailboxDoc, MailboxFault, MailboxPart } from "../../models/gmailMailbox.ts";

/** Another process listens now. */
export class LeaseLost extends Error {
  override name = "LeaseLost";
}

/** A mailbox's record in the hands of the one who listens: what is written is also kept here. Writes throw LeaseLost. */
export class HeldMailbox {
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

  async note(noted: Parameters<GmailMailboxes["update"]>[2], newestMailAt?: Date): Promise<void> {
    if (!(await this.#mailboxes.update(this.#state._id, this.#token, noted, newestMailAt))) throw new LeaseLost();
    const newest = newestMailAt && newestMailAt > (this.#state.newestMailAt ?? 0) ? { newestMailAt } : {};
    this.#state = { ...this.#state, ...noted, ...newest };
  }

  async noteFault(part: MailboxPart, fault: MailboxFault | null): Promise<void> {
    if (!(await this.#mailboxes.updateFault(this.#state._id, this.#token, part, fault))) throw new LeaseLost();
    this.#state = { ...this.#state, faults: { ...this.#state.faults, [part]: fault } };
  }
}
