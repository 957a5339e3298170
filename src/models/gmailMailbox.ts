import * as f from "./db/fields.ts";
import { isHeld, RecordLease, StoredLease } from "./db/lease.ts";
import { Store } from "./db/store.ts";

/** The parts of a listener: `mails` lists and fetches mails, `notices` pulls notifications, `watch` subscribes to them. */
export const MAILBOX_PARTS = ["mails", "notices", "watch"] as const;
export type MailboxPart = (typeof MAILBOX_PARTS)[number];

export const MailboxFault = f.object({
  /** The time of the first failure since the part last worked. */
  since: f.date,
  /** The reason of the latest failure, without tokens, addresses or text of mails. */
  reason: f.string,
  /** Whether the fault lasts until somebody fixes its cause. */
  isLasting: f.boolean,
  /** The event that informed the main session of the fault; null before that. */
  toldAs: f.nullable(f.string),
});
export type MailboxFault = f.Stored<typeof MailboxFault>;

/** Maximum duration of a lease. A longer one was written with a clock that was ahead, and does not count. */
const MAX_LEASE_MS = 3_600_000;

/** Returns whether a process holds the lease on a mailbox. */
export function isLeased({ lease }: Pick<MailboxDoc, "lease">, now: Date): boolean {
  return isHeld(lease, now) && !isHeld(lease, new Date(now.getTime() + MAX_LEASE_MS));
}

/** A Gmail mailbox with a listener, and the state of the listener. */
export const MailboxDoc = f.object({
  /** Its address in lower case. */
  _id: f.string,
  /** The Gmail history id up to which all matching mails have become runs; null before the first listener started. */
  cursor: f.nullable(f.string),
  /** When Gmail received the newest mail from before the first listener started; null if there was none. */
  oldUntil: f.nullable(f.date),
  /** When Gmail received the newest mail that became a run. */
  newestMailAt: f.nullable(f.date),
  /** When the last complete listing of new mails began. */
  listedAt: f.nullable(f.date),
  /** When a mail last became a run. */
  lastMailAt: f.nullable(f.date),
  lastNoticeAt: f.nullable(f.date),
  /** The subscription to Gmail's notifications, which Gmail ends unless it is renewed. */
  watch: f.nullable(f.object({ topic: f.string, label: f.string, renewedAt: f.date, expiresAt: f.date })),
  /** The current fault of each part; null for a part that works. */
  faults: f.object({
    mails: f.nullable(MailboxFault),
    notices: f.nullable(MailboxFault),
    watch: f.nullable(MailboxFault),
  }),
  /** The latest failure, also if it has passed. */
  lastError: f.nullable(f.object({ at: f.date, reason: f.string })),
  /** The lease of the process that listens. */
  lease: f.nullable(f.object({ ...StoredLease.fields, holder: f.string })),
});
export type MailboxDoc = f.Stored<typeof MailboxDoc>;

export const gmailMailboxSchema = f.schemaOf(MailboxDoc);

const NEW: Omit<MailboxDoc, "_id" | "lease"> = {
  cursor: null,
  oldUntil: null,
  newestMailAt: null,
  listedAt: null,
  lastMailAt: null,
  lastNoticeAt: null,
  watch: null,
  faults: { mails: null, notices: null, watch: null },
  lastError: null,
};

type MailboxChange = Pick<
  MailboxDoc,
  "cursor" | "oldUntil" | "listedAt" | "lastMailAt" | "lastNoticeAt" | "watch" | "lastError"
>;

export class GmailMailboxes extends Store<MailboxDoc> {
  readonly #lease = new RecordLease(this.collection, "lease");

  /** Reads the record of a mailbox, or null if no listener has started for it. */
  find(account: string): Promise<MailboxDoc | null> {
    return this.collection.findOne({ _id: account.toLowerCase() });
  }

  /** Acquires the lease on a mailbox. @returns false while another process holds it */
  acquire(account: string, holder: { token: string; holder: string }, forMs: number): Promise<boolean> {
    const now = this.clock.now();
    const lease: NonNullable<MailboxDoc["lease"]> = { ...holder, until: new Date(now.getTime() + forMs) };
    const tooLong = { "lease.until": { $gt: new Date(now.getTime() + MAX_LEASE_MS) } };
    const change = { $setOnInsert: NEW };
    return this.#lease.acquireOrCreate(account.toLowerCase(), lease, { now, change, alsoFree: [tooLong] });
  }

  /** Renews the lease. @returns false if another process holds it */
  renew(account: string, token: string, until: Date): Promise<boolean> {
    return this.#lease.renew(account.toLowerCase(), { token, until });
  }

  /** Releases the lease if it is still held under this token. */
  release(account: string, token: string): Promise<void> {
    return this.#lease.release(account.toLowerCase(), token);
  }

  /**
   * Updates the state of the listener.
   * @param newestMailAt never decreases
   * @returns false, without a change, if another process holds the lease
   */
  update(account: string, token: string, change: Partial<MailboxChange>, newestMailAt?: Date): Promise<boolean> {
    const more = newestMailAt && { $max: { newestMailAt } };
    return this.#lease.updateHeld(account.toLowerCase(), token, change, more);
  }

  /**
   * Updates the fault of a part.
   * @param fault null if the part works again
   * @returns false, without a change, if another process holds the lease
   */
  updateFault(account: string, token: string, part: MailboxPart, fault: MailboxFault | null): Promise<boolean> {
    const lastError = fault && { at: this.clock.now(), reason: fault.reason };
    const change = { [`faults.${part}`]: fault, ...(lastError && { lastError }) };
    return this.#lease.updateHeld(account.toLowerCase(), token, change);
  }
}
