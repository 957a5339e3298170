import type { mongo } from "mongoose";
import type { Changes } from "../shared/changes.ts";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { MAIN_SESSION } from "../shared/sessionKey.ts";
import { Together } from "../shared/together.ts";
import { findDue } from "./dueRuns.ts";
import { guard, updateByIds } from "./guard.ts";
import { Inserting } from "./inserting.ts";
import { exists, reading } from "./newPrimary.ts";
import { readAll } from "./readAll.ts";
import {
  type AgentRun,
  accepted,
  type DueRun,
  type MappedTo,
  type NewRun,
  type RunClaim,
  type RunDoc,
  type RunEnd,
  type RunError,
  WAITING_OF_MAPPING,
} from "./run.ts";
import {
  claimAll,
  type Ending,
  endAll,
  ended,
  findInSessions,
  findNextIds,
  type RunInSession,
} from "./runsTogether.ts";

export class Runs {
  readonly collection: mongo.Collection<RunDoc>;
  readonly #inserting: Inserting<RunDoc>;
  readonly #ending: Together<Ending, RunDoc | null>;
  readonly #clock: Clock;
  readonly #changes: Changes;

  constructor(collection: mongo.Collection<RunDoc>, clock: Clock, changes: Changes) {
    this.collection = collection;
    this.#ending = new Together((ends) => endAll(collection, ends), {
      ...{ most: 500, mostWeight: 8 * 1024 * 1024 },
      weightOf: ({ end }) => 500 + (end.status === "completed" ? 2 * end.reply.length : 0),
    });
    this.#inserting = new Inserting(
      collection,
      ({ mapped, request }) =>
        1_000 + (mapped?.call?.length ?? 0) + (mapped?.item?.json.length ?? 0) + (request?.message.length ?? 0),
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
    const now = this.#clock.now();
    const inserted = await this.#inserting.add(runs.map((run) => accepted(run, now)));
    for (const { _id } of runs) this.#noted(_id, inserted > 0);
    return inserted;
  }

  /** @throws AppError run_not_found, unavailable */
  async find(runId: string): Promise<RunDoc> {
    const run = await reading(this.collection, () => this.collection.findOne({ _id: runId }));
    if (!run) throw new AppError("run_not_found", { detail: `There is no run ${JSON.stringify(runId)}.` });
    return run;
  }

  /** Counts the runs of a mapping that wait, up to a limit. @throws AppError unavailable */
  countWaiting(mapping: string, limit: number): Promise<number> {
    const waiting = { status: "queued" as const, "mapped.mapping": mapping };
    return reading(this.collection, () => this.collection.countDocuments(waiting, { limit, hint: WAITING_OF_MAPPING }));
  }

  /** Reads what tells whom a run comes from; null where there is no such run. @throws AppError unavailable */
  findSender(runId: string): Promise<Pick<RunDoc, "_id" | "mapped"> | null> {
    const projection = { "mapped.mapping": 1 };
    return reading(this.collection, () => this.collection.findOne({ _id: runId }, { projection }));
  }

  /** Those of the ids that are runs. @throws AppError unavailable */
  async findKnown(runIds: readonly string[]): Promise<Set<string>> {
    const query = { _id: { $in: [...runIds] } };
    const found = await readAll(this.collection, query, { projection: { _id: 1 } });
    return new Set(found.map(({ _id }) => _id));
  }

  /** Runs, each with the next of its session; null where there is no such run. @throws AppError unavailable */
  findInSessions(runIds: readonly string[]): Promise<(RunInSession | null)[]> {
    return findInSessions(this.collection, runIds);
  }

  /** Of each session the run that comes next; null where none waits. @throws AppError unavailable */
  findNextIds(sessionKeys: readonly string[]): Promise<(string | null)[]> {
    return findNextIds(this.collection, sessionKeys);
  }

  /** The run when it has ended and its end has not been seen through; null otherwise. */
  findEnded(runId: string): Promise<RunDoc | null> {
    return reading(this.collection, () => this.collection.findOne({ _id: runId, settled: false }));
  }

  /** The run of the session that comes next: of those not ended the one accepted first. */
  findNext(sessionKey: string): Promise<RunDoc | null> {
    return reading(this.collection, () => this.collection.findOne({ sessionKey, open: true }, { sort: { order: 1 } }));
  }

  /**
   * Takes runs that are past their mapping and wait, or whose workers have gone silent.
   * @param runs as they were read, each once
   * @param claim of all of them
   * @returns how each is now; null where another was faster
   * @throws AppError unavailable
   */
  async claimEach(runs: readonly RunDoc[], claim: RunClaim): Promise<(AgentRun | null)[]> {
    const claimed = await claimAll(this.collection, runs, claim, this.#clock.now());
    return claimed.map((run, i) => this.#noted(runs[i]!._id, run) as AgentRun | null);
  }

  /** Whether a run still waits for its mapping. */
  isUnmapped(runId: string, round: number): Promise<boolean> {
    return exists(this.collection, unmapped(runId, round));
  }

  /**
   * Notes what the mapping made of a run that waits for that.
   * @returns false when it waits no longer: cancelled, or seen to by another worker
   */
  async mapTo(runId: string, round: number, mapped: MappedTo): Promise<boolean> {
    const { modifiedCount } = await guard(() =>
      this.collection.updateOne(unmapped(runId, round), {
        $set: { stage: "turn" as const, ...this.#mappedTo(mapped) },
      }),
    );
    return this.#noted(runId, modifiedCount === 1);
  }

  #mappedTo(mapped: MappedTo): Partial<RunDoc> {
    const over = { open: false, endedAt: this.#clock.now() };
    const used = { "mapped.call": null, "mapped.item": null };
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

  /**
   * Ends the run, if it is still this worker's.
   * @param run as it was taken
   * @returns the run when it has ended, whoever ended it, and its end has not been seen through; null otherwise
   * @throws AppError unavailable, body_too_large
   */
  async end(run: AgentRun, end: RunEnd): Promise<RunDoc | null> {
    return this.#noted(run._id, await this.#ending.add({ run, end, now: this.#clock.now() }));
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

  /**
   * Ends a run that has not ended.
   * @returns whether a worker was busy with it: that one sees to what follows once the turn is over
   * @throws AppError run_not_found, run_state_conflict, unavailable
   */
  async cancel(runId: string): Promise<{ wasRunning: boolean }> {
    const error = { code: "cancelled" as const, message: "The run was cancelled." };
    const change = { $set: ended({ status: "failed", error }, this.#clock.now()) };
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

  /** Notes that all that follows from the ends of runs is written. @throws AppError unavailable */
  async markSettled(runs: readonly Pick<RunDoc, "_id" | "round">[]): Promise<void> {
    const rounds = Map.groupBy(runs, ({ round }) => round);
    const changes = [...rounds].map(([round, those]) => {
      const ended = { _id: { $in: those.map(({ _id }) => _id) }, round, settled: false };
      return { filter: ended, update: { $set: { settled: true } } };
    });
    await updateByIds(this.collection, changes);
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

  /** Of each session the run that comes next, where it waits since before a time or its worker has gone silent. */
  findDue(now: Date, before: Date): AsyncIterable<DueRun> {
    return findDue(this.collection, now, before);
  }
}

const unmapped = (runId: string, round: number) => ({ _id: runId, round, open: true, stage: "mapping" as const });
