import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import * as f from "../db/fields.ts";
import { RecordLease, StoredLease } from "../db/lease.ts";
import { Store } from "../db/store.ts";

/** The channel and recipient to which replies of the main session are sent. */
export const ReplyTarget = f.object({
  channel: f.string,
  to: f.string,
});
export type ReplyTarget = f.Stored<typeof ReplyTarget>;

/** The sweep triggers no turn of the main session for a while, because turns have failed. */
const MainPause = f.object({
  until: f.date,
  /** Failed turns in a row over the same events. */
  failures: f.number,
  /** The newest event of the last one; null if it had none. */
  newestEventId: f.nullable(f.string),
});

export const SessionDoc = f.object({
  /** The session key. */
  _id: f.string,
  /** The lease of the turn that is running in the session. */
  active: f.nullable(f.object({ ...StoredLease.fields, holder: f.string })),
  /** Only in the main session: where its replies go. */
  route: f.optional(ReplyTarget),
  /** The hook context that named the session first and alone may name it again; missing for sessions of a single run. */
  owner: f.optional(f.string),
  /** The agent of its first run, null for that of `agents.defaults`; missing until a run names one. */
  agentId: f.optional(f.nullable(f.string)),
  /** Only in the main session, after a failed turn. */
  pause: f.optional(MainPause),
  /** Only of the main session: the number of turns within a minute that rules wanted; missing before the first one. */
  ruleTurns: f.optional(f.object({ since: f.date, count: f.number })),
  lastUsedAt: f.date,
});
export type SessionDoc = f.Stored<typeof SessionDoc>;

export const sessionSchema = f.schemaOf(SessionDoc).index({ lastUsedAt: -1, _id: -1 });

/** A turn in a session: a round of a run, or a heartbeat. */
export interface SessionTurn {
  readonly key: string;
  readonly holder: string;
  /** The agent of `agents.list`; missing for that of `agents.defaults`. */
  readonly agentId?: string | undefined;
}

/** The time within which turns that rules start are counted. */
const RULE_TURNS_MS = 60_000;

export class Sessions extends Store<SessionDoc> {
  readonly #lease = new RecordLease(this.collection, "active");

  /**
   * Acquires the session for one turn, until it is released or the lease expires. Creates the session if it does not exist.
   * @returns false while another turn holds it
   */
  acquire({ key, holder, agentId }: SessionTurn, { token, until }: StoredLease): Promise<boolean> {
    const now = this.clock.now();
    const active: NonNullable<SessionDoc["active"]> = { holder, token, until };
    return this.#lease.acquireOrCreate(key, active, {
      now,
      change: { $set: { lastUsedAt: now, ...(agentId !== undefined && { agentId }) } },
    });
  }

  /** Renews the lease. @returns false if another turn holds the session */
  renew(key: string, lease: StoredLease): Promise<boolean> {
    return this.#lease.renew(key, lease);
  }

  /** Releases the session if it is still held under this token. */
  release(key: string, token: string): Promise<void> {
    return this.#lease.release(key, token);
  }

  /** Releases the session if this turn still holds it, whichever worker acquired it under whichever token. */
  async releaseTurn({ key, holder }: SessionTurn): Promise<void> {
    await this.collection.updateOne({ _id: key, "active.holder": holder }, { $set: { active: null } });
  }

  /** Deletes the sessions that have no running turn. */
  async deleteIdle(keys: readonly string[]): Promise<void> {
    await this.collection.deleteMany({ _id: { $in: [...keys] }, active: null });
  }

  /** Deletes the sessions, except the main one, that were last used before a time. */
  async deleteUnusedSince(time: Date): Promise<void> {
    const unused = { _id: { $ne: MAIN_SESSION }, active: null, lastUsedAt: { $lt: time } };
    await this.collection.deleteMany(unused);
  }

  /** Counts a turn that rules start. @returns the number of them within the minute */
  async countRuleTurn(): Promise<number> {
    const now = this.clock.now();
    const isSame = { $gt: ["$ruleTurns.since", new Date(now.getTime() - RULE_TURNS_MS)] };
    const next = { since: "$ruleTurns.since", count: { $add: ["$ruleTurns.count", 1] } };
    const change = [{ $set: { ruleTurns: { $cond: [isSame, next, { since: now, count: 1 }] } } }];
    const options = { projection: { ruleTurns: 1 }, returnDocument: "after" } as const;
    const found = await this.collection.findOneAndUpdate({ _id: MAIN_SESSION }, change, options);
    return found?.ruleTurns?.count ?? 1;
  }

  /**
   * Prevents the sweep from triggering a turn of the main session for a while, after a failed turn whose lease is held. An
   * event that is new since the previous failure begins the count again.
   * @param pauseMs the pause after this many failures
   * @returns the end of the pause
   */
  async pauseMain(newestEventId: string | null, pauseMs: (failures: number) => number): Promise<Date> {
    const query = { _id: MAIN_SESSION };
    const main = await this.collection.findOne(query, { projection: { pause: 1 } });
    const { failures: before = 0, newestEventId: known = null } = main?.pause ?? {};
    const failures = known === newestEventId ? before + 1 : 1;
    const until = new Date(this.clock.now().getTime() + pauseMs(failures));
    const change = { $set: { pause: { until, failures, newestEventId } } };
    await this.collection.updateOne(query, change);
    return until;
  }

  /** Ends the pause after a turn of the main session that succeeded. */
  async resumeMain(): Promise<void> {
    const query = { _id: MAIN_SESSION, pause: { $exists: true } };
    await this.collection.updateOne(query, { $unset: { pause: "" } });
  }

  /**
   * Returns whether the sweep may not trigger a turn of the main session: after a failure, or while one runs. A trigger
   * during a turn that then fails would start the next one without a pause.
   */
  isMainBusy(now: Date): Promise<boolean> {
    const later = { $gt: now };
    return this.collection.exists({ _id: MAIN_SESSION, $or: [{ "pause.until": later }, { "active.until": later }] });
  }

  /** Returns where replies of the main session go now: the stored target, or that of the configuration before one is stored. */
  async currentReplyTarget(initial: ReplyTarget | null): Promise<ReplyTarget | null> {
    return (await this.replyTarget()) ?? initial;
  }

  /** Returns the stored target of replies of the main session; null before the first one is stored. */
  async replyTarget(): Promise<ReplyTarget | null> {
    const main = await this.collection.findOne({ _id: MAIN_SESSION }, { projection: { route: 1 } });
    return main?.route ?? null;
  }

  /** Sets where replies of the main session go. */
  async setReplyTarget({ channel, to }: ReplyTarget): Promise<void> {
    const route = { channel, to: to.trim() };
    const change = { $set: { route }, $setOnInsert: { active: null, lastUsedAt: this.clock.now() } };
    await this.collection.updateOne({ _id: MAIN_SESSION }, change, { upsert: true });
  }

  /** Clears where replies of the main session go, so that those of the configuration apply. */
  async clearReplyTarget(): Promise<void> {
    await this.collection.updateOne({ _id: MAIN_SESSION }, { $unset: { route: "" } });
  }
}
