import { hash } from "node:crypto";
import type { MailboxPart } from "../../models/gmailMailbox.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Failure } from "../api/failure.ts";
import type { LeasedMailbox } from "./leasedMailbox.ts";

const REMEDY = "run `signalbox webhooks gmail setup` again";

/** Consequence of a lasting fault, by part. */
const FAULT_TEXTS: Readonly<Record<MailboxPart, string>> = {
  mails: "New mails cannot be read",
  notices: "Notifications of new mails cannot be pulled, so mails arrive late or not at all",
  watch: "Notifications cannot be requested from Gmail, so new mails arrive late or not at all",
};

const RECOVERY_TEXTS: Readonly<Record<MailboxPart, string>> = {
  mails: "New mails are read",
  notices: "Notifications of new mails are pulled",
  watch: "Gmail sends notifications",
};

export interface HealthDeps {
  readonly stores: Stores;
  readonly triggerHeartbeat: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Records in the mailbox's document which parts of the listener work. Notifies the main session once of each lasting fault and
 * once of its end, however many processes observe it and however often they restart.
 */
export class Health {
  readonly #mailbox: LeasedMailbox;
  readonly #deps: HealthDeps;
  #last: Promise<void> = Promise.resolve();

  constructor(mailbox: LeasedMailbox, deps: HealthDeps) {
    this.#mailbox = mailbox;
    this.#deps = deps;
  }

  /** Clears the fault of a part. @throws LeaseLost; AppError unavailable */
  reportSuccess(part: MailboxPart): Promise<void> {
    return this.#serialize(async () => {
      const fault = this.#mailbox.state.faults[part];
      if (!fault) return;
      this.#deps.log.info({ part, since: fault.since }, "a part of the Gmail listener works again");
      if (fault.toldAs !== null) {
        const text = `${RECOVERY_TEXTS[part]} again.`;
        await this.#deps.stores.mainEvents.add([{ _id: `${fault.toldAs}-over`, text, source: "gmail", wake: false }]);
      }
      await this.#mailbox.setFault(part, null);
    });
  }

  /** Records the fault of a part. @throws LeaseLost; AppError unavailable */
  reportFailure(part: MailboxPart, { reason, isLasting }: Failure): Promise<void> {
    return this.#serialize(async () => {
      const { clock, log, stores, triggerHeartbeat } = this.#deps;
      const { _id, faults } = this.#mailbox.state;
      const earlier = faults[part] ?? { since: clock.now(), toldAs: null, isLasting: false };
      const fault = { ...earlier, reason, isLasting: isLasting || earlier.isLasting };
      // Stored before the event, so that after a crash the next process reports the same fault under the same id.
      await this.#mailbox.setFault(part, fault);
      if (!isLasting || fault.toldAs !== null) return;
      log.error({ part, reason }, `${FAULT_TEXTS[part]}: ${REMEDY}; the listener keeps retrying`);
      const same = Object.values(faults).find((other) => other?.reason === reason && other.toldAs !== null);
      const toldAs = same?.toldAs ?? eventId(_id, part, fault.since);
      const text = `${FAULT_TEXTS[part]}: ${reason} To fix it, ${REMEDY}.`;
      if ((await stores.mainEvents.add([{ _id: toldAs, text, source: "gmail", wake: true }])) > 0)
        await triggerHeartbeat();
      await this.#mailbox.setFault(part, { ...fault, toldAs });
    });
  }

  /** Runs actions one after the other: parts fail concurrently, and a cause that they share must be reported once. */
  #serialize(action: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(action);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** Returns an event id that is the same in each process that observes the fault, and that does not contain the address. */
function eventId(account: string, part: MailboxPart, since: Date): string {
  const mailbox = hash("sha256", account, "hex").slice(0, 12);
  return `gmail-${mailbox}-${part}-${since.getTime()}`;
}
