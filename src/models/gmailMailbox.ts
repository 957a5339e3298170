import { type mongo, Schema } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import { readFromCaughtUpPrimary } from "./db/caughtUpPrimary.ts";
import { acquireIfFree } from "./db/lease.ts";
import { mapMongoErrors } from "./db/mongoErrors.ts";

/** The parts of a listener: `mails` lists and fetches mails, `notices` pulls notifications, `watch` subscribes to them. */
export const MAILBOX_PARTS = ["mails", "notices", "watch"] as const;
export type MailboxPart = (typeof MAILBOX_PARTS)[number];

export interface MailboxFault {
  /** The time of the first failure since the part last worked. */
  readonly since: Date;
  /** The reason of the latest failure, without tokens, addresses or text of mails. */
  readonly reason: string;
  /** Whether the fault lasts until somebody fixes its cause. */
  readonly isLasting: boolean;
  /** The event that informed the main session of the fault; null before that. */
  readonly toldAs: string | null;
}

/** Maximum duration of a lease. A longer one was written with a clock that was ahead, and does not count. */
const MAX_LEASE_MS = 3_600_000;

/** Returns whether a process holds the lease on a mailbox. */
export function isLeased({ claim }: Pick<MailboxDoc, "claim">, now: Date): boolean {
  return claim !== null && claim.until > now && claim.until.getTime() <= now.getTime() + MAX_LEASE_MS;
}

/** A Gmail mailbox with a listener, and the state of the listener. */
export interface MailboxDoc {
  /** Its address in lower case. */
  _id: string;
  /** The Gmail history id up to which all matching mails have become runs; null before the first listener started. */
  cursor: string | null;
  /** When Gmail received the newest mail from before the first listener started; null if there was none. */
  oldUntil: Date | null;
  /** When Gmail received the newest mail that became a run. */
  newestMailAt: Date | null;
  /** When the last complete listing of new mails began. */
  listedAt: Date | null;
  /** When a mail last became a run. */
  lastMailAt: Date | null;
  lastNoticeAt: Date | null;
  /** The subscription to Gmail's notifications, which Gmail ends unless it is renewed. */
  watch: {
    readonly topic: string;
    readonly label: string;
    readonly renewedAt: Date;
    readonly expiresAt: Date;
  } | null;
  /** The current fault of each part; null for a part that works. */
  faults: Readonly<Record<MailboxPart, MailboxFault | null>>;
  /** The latest failure, also if it has passed. */
  lastError: { readonly at: Date; readonly reason: string } | null;
  /** The lease of the process that listens. */
  claim: { readonly token: string; readonly holder: string; readonly until: Date } | null;
}

export const gmailMailboxSchema = new Schema<MailboxDoc>(
  {
    _id: String,
    cursor: String,
    oldUntil: Date,
    newestMailAt: Date,
    listedAt: Date,
    lastMailAt: Date,
    lastNoticeAt: Date,
    watch: Schema.Types.Mixed,
    faults: Schema.Types.Mixed,
    lastError: Schema.Types.Mixed,
    claim: Schema.Types.Mixed,
  },
  { versionKey: false },
);

const NEW: Omit<MailboxDoc, "_id" | "claim"> = {
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

export class GmailMailboxes {
  readonly collection: mongo.Collection<MailboxDoc>;
  readonly #clock: Clock;

  constructor(collection: mongo.Collection<MailboxDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /** Reads the record of a mailbox, or null if no listener has started for it. @throws AppError unavailable */
  find(account: string): Promise<MailboxDoc | null> {
    return readFromCaughtUpPrimary(this.collection, () => this.collection.findOne({ _id: account.toLowerCase() }));
  }

  /** Acquires the lease on a mailbox. @returns false while another process holds it @throws AppError unavailable */
  acquire(account: string, lease: { token: string; holder: string }, forMs: number): Promise<boolean> {
    const now = this.#clock.now();
    const maxUntil = new Date(now.getTime() + MAX_LEASE_MS);
    const free = [{ claim: null }, { "claim.until": { $lte: now } }, { "claim.until": { $gt: maxUntil } }];
    const query = { _id: account.toLowerCase(), $or: [...free, { "claim.token": lease.token }] };
    const until = new Date(now.getTime() + forMs);
    return acquireIfFree(this.collection, query, { $set: { claim: { ...lease, until } }, $setOnInsert: NEW });
  }

  /** Renews the lease. @returns false if another process holds it @throws AppError unavailable */
  renew(account: string, token: string, until: Date): Promise<boolean> {
    return this.#updateLeased(account, token, { $set: { "claim.until": until } });
  }

  /** Releases the lease if it is still held under this token. @throws AppError unavailable */
  async release(account: string, token: string): Promise<void> {
    await this.#updateLeased(account, token, { $set: { claim: null } });
  }

  /**
   * Updates the state of the listener.
   * @param newestMailAt never decreases
   * @returns false, without a change, if another process holds the lease
   * @throws AppError unavailable
   */
  update(account: string, token: string, change: Partial<MailboxChange>, newestMailAt?: Date): Promise<boolean> {
    return this.#updateLeased(account, token, { $set: change, ...(newestMailAt && { $max: { newestMailAt } }) });
  }

  /**
   * Updates the fault of a part.
   * @param fault null if the part works again
   * @returns false, without a change, if another process holds the lease
   * @throws AppError unavailable
   */
  updateFault(account: string, token: string, part: MailboxPart, fault: MailboxFault | null): Promise<boolean> {
    const lastError = fault && { at: this.#clock.now(), reason: fault.reason };
    return this.#updateLeased(account, token, { $set: { [`faults.${part}`]: fault, ...(lastError && { lastError }) } });
  }

  async #updateLeased(account: string, token: string, change: mongo.UpdateFilter<MailboxDoc>): Promise<boolean> {
    const query = { _id: account.toLowerCase(), "claim.token": token };
    const { matchedCount } = await mapMongoErrors(() => this.collection.updateOne(query, change));
    return matchedCount === 1;
  }
}
