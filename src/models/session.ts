import { type mongo, Schema } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import { MAIN_SESSION } from "../shared/sessionKey.ts";
import { guard, takeEachIfFree, updateByIds } from "./guard.ts";
import { insertAll } from "./inserting.ts";
import { exists, reading } from "./newPrimary.ts";

/** Where replies of the main session go. */
export interface Route {
  readonly channel: string;
  readonly to: string;
}

export interface SessionDoc {
  /** The session key. */
  _id: string;
  /** The turn that the session is busy with, and until when that is believed without another word. */
  active: { readonly holder: string; readonly token: string; readonly until: Date } | null;
  /** Of the main session: its last recipient. */
  route?: Route;
  /** The hook context that named the session first, which alone may name it again. Of sessions for one run there is none. */
  owner?: string;
  /** Of the main session: after a turn that failed, the sweep triggers no other one before this time. */
  pausedUntil?: Date;
  lastUsedAt: Date;
}

export const sessionSchema = new Schema<SessionDoc>(
  {
    _id: String,
    active: Schema.Types.Mixed,
    route: Schema.Types.Mixed,
    owner: String,
    pausedUntil: Date,
    lastUsedAt: Date,
  },
  { versionKey: false },
);

sessionSchema.index({ lastUsedAt: -1, _id: -1 });

/** One turn in a session. */
export interface SessionTurn {
  readonly key: string;
  readonly holder: string;
}

export interface SessionClaim extends SessionTurn {
  readonly token: string;
  readonly until: Date;
}

export class Sessions {
  readonly collection: mongo.Collection<SessionDoc>;
  readonly #clock: Clock;

  constructor(collection: mongo.Collection<SessionDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /**
   * Takes the session for one turn. What was taken comes free when it is released, or when its time is over.
   * @returns false while a turn has it
   */
  async claim(key: string, holder: string, token: string, until: Date): Promise<boolean> {
    const [isTaken] = await this.claimEach([{ key, holder, token, until }]);
    return isTaken === true;
  }

  /** Takes each of several sessions, if it is free. @returns for each whether it was, or is its turn's already */
  async claimEach(claims: readonly SessionClaim[]): Promise<boolean[]> {
    if (claims.length === 0) return [];
    const now = this.#clock.now();
    const takes = claims.map(({ key: _id, holder, token, until }) => {
      const free = [{ active: null }, { "active.until": { $lte: now } }, { "active.token": token }];
      return { filter: { _id, $or: free }, update: { $set: { active: { holder, token, until }, lastUsedAt: now } } };
    });
    return takeEachIfFree(this.collection, takes);
  }

  /**
   * Makes sessions that are free, where they are not there yet.
   * @returns the keys of those that were not
   * @throws AppError unavailable
   */
  async make(keys: readonly string[]): Promise<Set<string>> {
    if (keys.length === 0) return new Set();
    const lastUsedAt = this.#clock.now();
    const sets = keys.map((_id): SessionDoc[] => [{ _id, active: null, lastUsedAt }]);
    const counts = await guard(() => insertAll(this.collection, sets));
    return new Set(keys.filter((_, i) => counts[i] === 1));
  }

  async renew(key: string, token: string, until: Date): Promise<boolean> {
    const change = { $set: { "active.until": until } };
    const { matchedCount } = await guard(() => this.collection.updateOne({ _id: key, "active.token": token }, change));
    return matchedCount === 1;
  }

  /** Frees the session of the turn that has this token, and of no later one. */
  async releaseOwn(key: string, token: string): Promise<void> {
    await guard(() => this.collection.updateOne({ _id: key, "active.token": token }, { $set: { active: null } }));
  }

  /** Frees sessions of these turns, and of no later ones. @throws AppError unavailable */
  async release(turns: readonly SessionTurn[]): Promise<void> {
    if (turns.length === 0) return;
    const [keys, holders] = [turns.map(({ key }) => key), turns.map(({ holder }) => holder)];
    const theirs = { _id: { $in: keys }, "active.holder": { $in: holders } };
    await updateByIds(this.collection, [{ filter: theirs, update: { $set: { active: null } } }]);
  }

  /** Deletes sessions that nothing is under way in. @throws AppError unavailable */
  async deleteIdle(keys: readonly string[]): Promise<void> {
    await guard(() => this.collection.deleteMany({ _id: { $in: [...keys] }, active: null }));
  }

  /** Keeps the sweep from triggering a turn of the main session for a while. */
  async pauseMain(until: Date): Promise<void> {
    await guard(() => this.collection.updateOne({ _id: MAIN_SESSION }, { $set: { pausedUntil: until } }));
  }

  isMainPaused(now: Date): Promise<boolean> {
    return exists(this.collection, { _id: MAIN_SESSION, pausedUntil: { $gt: now } });
  }

  /** The main session's last recipient; null before it has one. */
  async route(): Promise<Route | null> {
    const main = await reading(this.collection, () =>
      this.collection.findOne({ _id: MAIN_SESSION }, { projection: { route: 1 } }),
    );
    return main?.route ?? null;
  }

  async setRoute({ channel, to }: Route): Promise<void> {
    const route = { channel, to: to.trim() };
    const change = { $set: { route }, $setOnInsert: { active: null, lastUsedAt: this.#clock.now() } };
    await guard(() => this.collection.updateOne({ _id: MAIN_SESSION }, change, { upsert: true }));
  }
}
