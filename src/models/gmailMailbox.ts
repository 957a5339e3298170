import { type mongo, Schema } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import { readFromCaughtUpPrimary } from "./db/caughtUpPrimary.ts";
import { acquireIfFree } from "./db/lease.ts";
import { mapMongoErrors } from "./db/mongoErrors.ts";

/** What a listener does: `mails` lists and fetches, `notices` are pulled, `watch` has Gmail send them. */
export const MAILBOX_PARTS = ["mails", "notices", "watch"] as const;
export type MailboxPart = (typeof MAILBOX_PARTS)[number];

export interface MailboxFault {
  /** Of the first failure since the part last worked. */
  readonly since: Date;
  /** Of the latest failure. No token, no address, nothing of a mail. */
  readonly reason: string;
  /** It does not pass by itself: somebody has to do something. */
  readonly isLasting: boolean;
  /** The event by which the main session has been told; null while it has not. */
  readonly toldAs: string | null;
}

/** No claim lasts so long: one that does is of a clock that was ahead. */
const MAX_LEASE_MS = 3_600_000;

/** Whether a process holds the mailbox. */
export function isLeased({ claim }: Pick<MailboxDoc, "claim">, now: Date): boolean {
  return claim !== null && claim.until > now && claim.until.getTime() <= now.getTime() + MAX_LEASE_MS;
}

/** A mailbox that is listened to, and how that goes. */
export interface MailboxDoc {
  /** Its address, in small letters. */
  _id: string;
  /** Up to this history id of Gmail's every mail that counts has become a run. Null before the first listener began. */
  cursor: string | null;
  /** When Gmail received the newest mail that was there before the first listener began; null where there was none. */
  oldUntil: Date | null;
  /** When Gmail received the newest of the mails that have become runs. */
  newestMailAt: Date | null;
  /** When the last listing began that had nothing left after it. */
  listedAt: Date | null;
  /** When a mail last became a run. */
  lastMailAt: Date | null;
  lastNoticeAt: Date | null;
  /** What Gmail sends notices about, and until when it does without another word. */
  watch: {
    readonly topic: string;
    readonly label: string;
    readonly renewedAt: Date;
    readonly expiresAt: Date;
  } | null;
  /** What does not work for now. */
  faults: Readonly<Record<MailboxPart, MailboxFault | null>>;
  /** What last went wrong, also when it has passed. */
  lastError: { readonly at: Date; readonly reason: string } | null;
  /** Which process listens, and until when that is believed without another word. */
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

  /** Null before anybody has listened. @throws AppError unavailable */
  find(account: string): Promise<MailboxDoc | null> {
    return readFromCaughtUpPrimary(this.collection, () => this.collection.findOne({ _id: account.toLowerCase() }));
  }

  /** Becomes the one who listens. @returns false while another does */
  acquire(account: string, claim: { token: string; holder: string }, forMs: number): Promise<boolean> {
    const now = this.#clock.now();
    const tooLate = new Date(now.getTime() + MAX_LEASE_MS);
    const isOver = [{ claim: null }, { "claim.until": { $lte: now } }, { "claim.until": { $gt: tooLate } }];
    const query = { _id: account.toLowerCase(), $or: [...isOver, { "claim.token": claim.token }] };
    const until = new Date(now.getTime() + forMs);
    return acquireIfFree(this.collection, query, { $set: { claim: { ...claim, until } }, $setOnInsert: NEW });
  }

  /** @returns false when another listens */
  renew(account: string, token: string, until: Date): Promise<boolean> {
    return this.#updateLeased(account, token, { $set: { "claim.until": until } });
  }

  async release(account: string, token: string): Promise<void> {
    await this.#updateLeased(account, token, { $set: { claim: null } });
  }

  /**
   * Writes down how far the listener is, and what it has seen.
   * @param newestMailAt moves forward only
   * @returns false, with nothing changed, when another listens
   */
  update(account: string, token: string, change: Partial<MailboxChange>, newestMailAt?: Date): Promise<boolean> {
    return this.#updateLeased(account, token, { $set: change, ...(newestMailAt && { $max: { newestMailAt } }) });
  }

  /** @param fault null: it works again. @returns false when another listens */
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
