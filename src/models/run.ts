import { mongo, Schema } from "mongoose";
import type { Changes } from "../shared/changes.ts";
import type { Clock } from "../shared/clock.ts";
import { AppError, type ErrorCode } from "../shared/errors.ts";
import { MAIN_SESSION } from "../shared/sessionKey.ts";
import { guard } from "./guard.ts";
import { Inserting } from "./inserting.ts";

export type RunStatus = "queued" | "running" | "completed" | "failed" | "dropped";
/** `wake`: an event of the main session. */
export type RunKind = "agent" | "wake";
export type WakeMode = "now" | "next-heartbeat";

/** What the sender of an agent hook asked for, checked and with its defaults filled in. */
export interface AgentRequest {
  readonly message: string;
  readonly wakeMode: WakeMode;
  readonly deliver: boolean;
  readonly channel: string;
  readonly to: string | null;
  readonly model: string | null;
  readonly thinking: string | null;
  readonly timeoutSeconds: number;
  /** The run is also a job of the tracker, under the same id. */
  readonly trackAsJob: boolean;
  /** The operator's own words before the message. */
  readonly instructions?: string | undefined;
  /** The operator vouches for the message: it is the prompt as it is. */
  readonly allowUnsafe?: boolean | undefined;
}

/** What a mapped hook was sent. */
export interface MappedCall {
  /** The mapping's key. */
  readonly mapping: string;
  /**
   * The call as JSON: headers, url, path, query and payload, without the sender's secrets. Null once the mapping has made
   * something of it: beside the message that it became there may be no room for it in a document.
   */
  readonly call: string | null;
  /** When the main session is to hear of it, should the mapping fail. */
  readonly wakeMode: WakeMode;
}

export interface RunError {
  readonly code: ErrorCode;
  readonly message: string;
}

export interface RunDoc {
  /** The runId, a UUID. */
  _id: string;
  kind: RunKind;
  name: string | null;
  /** Of a mapped run it is what the mapping alone says, until its transform has been asked. */
  sessionKey: string;
  /** The session key was made for this run alone. */
  singleUse: boolean;
  /** Null where the sender asked for the run itself. */
  mapped: MappedCall | null;
  /** Whether the mapping is still to be applied, or the run waits for its turn, or is past that. */
  stage: "mapping" | "turn";
  /** Null while `stage` is mapping, and for a run that became an event. */
  request: AgentRequest | null;
  /** When MongoDB took it: a run accepted after another was answered has the greater one, whichever process took it. */
  order: mongo.Timestamp;
  status: RunStatus;
  /** Queued or running. */
  open: boolean;
  attempts: number;
  /** How often it was begun anew by hand; each round has a summary and a delivery of its own. */
  round: number;
  reply: string | null;
  error: RunError | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  /** Not tried again before this time. */
  notBefore: Date | null;
  /** Who runs it, and until when that is believed without another word; null unless it is running. */
  claim: { readonly token: string; readonly until: Date } | null;
  /** False from the end until all that follows from it is written; null before. */
  settled: boolean | null;
  /** Whether the transcript of its single-use session has been deleted. */
  forgotten: boolean;
}

export const runSchema = new Schema<RunDoc>(
  {
    _id: String,
    kind: String,
    name: String,
    sessionKey: String,
    singleUse: Boolean,
    mapped: Schema.Types.Mixed,
    stage: String,
    request: Schema.Types.Mixed,
    order: Schema.Types.Mixed,
    status: String,
    open: Boolean,
    attempts: Number,
    round: Number,
    reply: String,
    error: Schema.Types.Mixed,
    createdAt: Date,
    startedAt: Date,
    endedAt: Date,
    notBefore: Date,
    claim: Schema.Types.Mixed,
    settled: Boolean,
    forgotten: Boolean,
  },
  { versionKey: false },
);
runSchema.index({ createdAt: -1, _id: -1 });
runSchema.index({ status: 1, createdAt: -1, _id: -1 });
runSchema.index({ sessionKey: 1, createdAt: -1, _id: -1 });
/** Leads to the run of a session whose turn it is, and of every session at once. */
const NEXT_OF_SESSION = { open: 1, sessionKey: 1, order: 1 } as const;
runSchema.index(NEXT_OF_SESSION, { partialFilterExpression: { open: true } });
runSchema.index({ createdAt: 1 }, { partialFilterExpression: { open: true, stage: "mapping" } });
runSchema.index({ settled: 1 }, { partialFilterExpression: { settled: false } });
runSchema.index({ settled: 1, endedAt: 1 }, { partialFilterExpression: { settled: true } });

runSchema.index({ endedAt: 1 }, { partialFilterExpression: { singleUse: true, forgotten: false } });

export type NewRun = Pick<RunDoc, "_id" | "kind" | "name" | "sessionKey" | "singleUse" | "mapped" | "request">;

/** A run that a worker has taken for an agent turn. */
export type AgentRun = RunDoc & { readonly request: AgentRequest };

/** What a mapping made of a run. */
export type MappedTo =
  | ({ readonly kind: "agent" } & Pick<AgentRun, "name" | "sessionKey" | "singleUse" | "request">)
  | { readonly kind: "event"; readonly name: string | null }
  | { readonly kind: "dropped" }
  | { readonly kind: "failed"; readonly error: RunError };

/** How a turn ended. */
export type RunEnd =
  | { readonly status: "completed"; readonly reply: string }
  | { readonly status: "failed"; readonly error: RunError; readonly attempts?: number };

/** A run that should be on its queue. `running`: its worker has gone silent in the middle of it. */
export interface DueRun {
  readonly id: string;
  readonly status: "queued" | "running";
  readonly attempts: number;
}

export class Runs {
  readonly collection: mongo.Collection<RunDoc>;
  readonly #inserting: Inserting<RunDoc>;
  readonly #clock: Clock;
  readonly #changes: Changes;

  constructor(collection: mongo.Collection<RunDoc>, clock: Clock, changes: Changes) {
    this.collection = collection;
    this.#inserting = new Inserting(
      collection,
      ({ mapped, request }) => 1_000 + (mapped?.call?.length ?? 0) + (request?.message.length ?? 0),
    );
    this.#clock = clock;
    this.#changes = changes;
  }

  /** Tells of a change, if there was one. */
  #noted<T>(runId: string, changed: T): T {
    if (changed) this.#changes.note({ kind: "run", id: runId });
    return changed;
  }

  /**
   * Writes accepted runs down; one that is there already stays as it is.
   * @returns how many are new
   * @throws AppError unavailable, body_too_large
   */
  async accept(runs: readonly NewRun[]): Promise<number> {
    const fresh = {
      status: "queued" as const,
      open: true,
      attempts: 0,
      round: 0,
      reply: null,
      error: null,
      createdAt: this.#clock.now(),
      startedAt: null,
      endedAt: null,
      notBefore: null,
      claim: null,
      settled: null,
      forgotten: false,
    };
    // MongoDB puts its own time into an empty time stamp.
    const inserted = await this.#inserting.add(
      runs.map((run) => ({
        ...run,
        ...fresh,
        stage: run.request ? "turn" : "mapping",
        order: new mongo.Timestamp({ t: 0, i: 0 }),
      })),
    );
    for (const { _id } of runs) this.#noted(_id, inserted > 0);
    return inserted;
  }

  /** @throws AppError run_not_found, unavailable */
  async find(runId: string): Promise<RunDoc> {
    const run = await guard(() => this.collection.findOne({ _id: runId }));
    if (!run) throw new AppError("run_not_found", { detail: `There is no run ${JSON.stringify(runId)}.` });
    return run;
  }

  /** Those of the ids that are runs. @throws AppError unavailable */
  async findKnown(runIds: readonly string[]): Promise<Set<string>> {
    const found = this.collection.find({ _id: { $in: [...runIds] } }, { projection: { _id: 1 } });
    return new Set((await guard(() => found.toArray())).map(({ _id }) => _id));
  }

  /** The run when it has ended and its end has not been seen through; null otherwise. */
  findEnded(runId: string): Promise<RunDoc | null> {
    return guard(() => this.collection.findOne({ _id: runId, settled: false }));
  }

  /** The run of the session that comes next: of those not ended the one accepted first. */
  findNext(sessionKey: string): Promise<RunDoc | null> {
    return guard(() => this.collection.findOne({ sessionKey, open: true }, { sort: { order: 1 } }));
  }

  /** Takes a run that waits, or whose worker has gone silent. @returns null when another was faster */
  async claim(runId: string, token: string, until: Date): Promise<AgentRun | null> {
    const now = this.#clock.now();
    const free = { $or: [{ status: "queued" as const }, { status: "running" as const, "claim.until": { $lte: now } }] };
    const taken = { status: "running" as const, startedAt: now, claim: { token, until }, notBefore: null };
    const claimed = await guard(() =>
      this.collection.findOneAndUpdate(
        { _id: runId, stage: "turn", ...free },
        { $set: taken, $inc: { attempts: 1 } },
        { returnDocument: "after" },
      ),
    );
    return this.#noted(runId, claimed) as AgentRun | null;
  }

  /** Whether a run still waits for its mapping. */
  async isUnmapped(runId: string, round: number): Promise<boolean> {
    const waiting = { _id: runId, round, open: true, stage: "mapping" as const };
    return (await guard(() => this.collection.findOne(waiting, { projection: { _id: 1 } }))) !== null;
  }

  /**
   * Notes what the mapping made of a run that waits for that.
   * @returns false when it waits no longer: cancelled, or seen to by another worker
   */
  async mapTo(runId: string, round: number, mapped: MappedTo): Promise<boolean> {
    const waiting = { _id: runId, round, open: true, stage: "mapping" as const };
    const { modifiedCount } = await guard(() =>
      this.collection.updateOne(waiting, { $set: { stage: "turn" as const, ...this.#mappedTo(mapped) } }),
    );
    return this.#noted(runId, modifiedCount === 1);
  }

  #mappedTo(mapped: MappedTo): Partial<RunDoc> {
    const over = { open: false, endedAt: this.#clock.now() };
    const used = { "mapped.call": null };
    switch (mapped.kind) {
      case "agent":
        return { ...mapped, ...used };
      case "event":
        return {
          ...{ ...over, ...used, kind: "wake", name: mapped.name, status: "completed", settled: true },
          ...{ sessionKey: MAIN_SESSION, singleUse: false },
        };
      case "dropped":
        return { ...over, ...used, status: "dropped", settled: true };
      case "failed":
        return { ...over, stage: "mapping", status: "failed", error: mapped.error, settled: false };
    }
  }

  /** @returns false when the run is no longer this worker's: cancelled, or taken by another */
  renew(runId: string, token: string, until: Date): Promise<boolean> {
    return this.#changeClaim(runId, token, { "claim.until": until });
  }

  /** Ends the run. @returns false when it is no longer this worker's */
  end(runId: string, token: string, end: RunEnd): Promise<boolean> {
    return this.#changeClaimed(runId, token, this.#ended(end));
  }

  /** Gives the run back, to be tried again after a while. @returns false when it is no longer this worker's */
  retryLater(runId: string, token: string, notBefore: Date, error: RunError): Promise<boolean> {
    return this.#changeClaimed(runId, token, { status: "queued", claim: null, notBefore, error });
  }

  /** Gives the run back as if it had never been taken. @returns false when it is no longer this worker's */
  handBack(runId: string, token: string): Promise<boolean> {
    return this.#changeClaimed(runId, token, { status: "queued", claim: null }, { $inc: { attempts: -1 } });
  }

  async #changeClaimed(runId: string, token: string, set: object, more: object = {}): Promise<boolean> {
    return this.#noted(runId, await this.#changeClaim(runId, token, set, more));
  }

  async #changeClaim(runId: string, token: string, set: object, more: object = {}): Promise<boolean> {
    const { modifiedCount } = await guard(() =>
      this.collection.updateOne({ _id: runId, status: "running", "claim.token": token }, { $set: set, ...more }),
    );
    return modifiedCount === 1;
  }

  #ended(end: RunEnd): object {
    const { status, ...said } = end;
    const outcome = status === "completed" ? { ...said, error: null } : said;
    const closed = { open: false, claim: null, notBefore: null, settled: false };
    return { status, ...outcome, ...closed, endedAt: this.#clock.now() };
  }

  /**
   * Ends a run that has not ended.
   * @returns whether a worker was busy with it: that one sees to what follows once the turn is over
   * @throws AppError run_not_found, run_state_conflict, unavailable
   */
  async cancel(runId: string): Promise<{ wasRunning: boolean }> {
    const error = { code: "cancelled" as const, message: "The run was cancelled." };
    const change = { $set: this.#ended({ status: "failed", error }) };
    const waiting = { _id: runId, status: "queued" as const };
    const { modifiedCount } = await guard(() => this.collection.updateOne(waiting, change));
    if (this.#noted(runId, modifiedCount === 1)) return { wasRunning: false };
    await this.#changeIn(runId, { open: true }, change, "has ended already");
    return { wasRunning: true };
  }

  /** Begins a failed run anew. @throws AppError run_not_found, run_state_conflict, unavailable */
  async retry(runId: string): Promise<RunDoc> {
    const anew = {
      status: "queued" as const,
      open: true,
      attempts: 0,
      error: null,
      endedAt: null,
      settled: null,
      forgotten: false,
    };
    return this.#changeIn(
      runId,
      { status: "failed", settled: true },
      { $set: anew, $inc: { round: 1 } },
      "has not failed, or has only just",
    );
  }

  async #changeIn(runId: string, state: mongo.Filter<RunDoc>, change: object, otherwise: string): Promise<RunDoc> {
    const changed = await guard(() =>
      this.collection.findOneAndUpdate({ ...state, _id: runId }, change, { returnDocument: "after" }),
    );
    if (this.#noted(runId, changed)) return changed as RunDoc;
    await this.find(runId);
    throw new AppError("run_state_conflict", { detail: `The run ${otherwise}.` });
  }

  async markSettled(runId: string, round: number): Promise<void> {
    await guard(() => this.collection.updateOne({ _id: runId, round, settled: false }, { $set: { settled: true } }));
  }

  /** Deletes the runs that a query fits. @returns how many these were */
  async delete(query: mongo.Filter<RunDoc>): Promise<number> {
    const { deletedCount } = await guard(() => this.collection.deleteMany(query));
    if (deletedCount > 0) this.#changes.note({ kind: "many" });
    return deletedCount;
  }

  /** Runs that ended before a time and whose end has not been seen through. */
  findUnsettled(before: Date): AsyncIterable<Pick<RunDoc, "_id">> {
    return this.collection.find({ settled: false, endedAt: { $lt: before } }, { projection: { _id: 1 } });
  }

  /** Runs that wait for their mapping since before a time. */
  findUnmapped(before: Date): AsyncIterable<Pick<RunDoc, "_id" | "round">> {
    const query = { open: true, stage: "mapping" as const, createdAt: { $lt: before } };
    return this.collection.find(query, { projection: { round: 1 } });
  }

  /**
   * Of each session the run that comes next, where it waits since before a time or its worker has gone silent. Reads one
   * document of each session with open runs, however many runs those have.
   */
  findDue(now: Date, before: Date): AsyncIterable<DueRun> {
    const first = (field: string) => ({ $first: `$${field}` });
    const pipeline = [
      { $match: { open: true } },
      { $sort: { sessionKey: 1, order: 1 } },
      {
        $group: {
          _id: "$sessionKey",
          id: first("_id"),
          status: first("status"),
          attempts: first("attempts"),
          stage: first("stage"),
          createdAt: first("createdAt"),
          notBefore: first("notBefore"),
          claim: first("claim"),
        },
      },
      {
        $match: {
          createdAt: { $lt: before },
          stage: "turn",
          $or: [
            { status: "queued", notBefore: null },
            { status: "queued", notBefore: { $lte: now } },
            { status: "running", "claim.until": { $lte: now } },
          ],
        },
      },
    ];
    return this.collection.aggregate<DueRun>(pipeline, { hint: NEXT_OF_SESSION });
  }
}
