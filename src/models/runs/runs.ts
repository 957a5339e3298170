import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { MAIN_SESSION } from "../../shared/config/formats/sessionKey.ts";
import { AppError } from "../../shared/errors.ts";
import type { ChangeNotifier } from "../../shared/queue/changeStream.ts";
import { exists, readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { BatchInserter } from "../db/insertAll.ts";
import type { StoredLease } from "../db/lease.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";
import { readAll } from "../db/readAll.ts";
import { retryOnce } from "../db/retry.ts";
import { listDue } from "./dueRuns.ts";
import {
  type AgentRun,
  type DueRun,
  type MappingOutcome,
  type NewRun,
  NOT_FINALIZED,
  newRunDoc,
  type RunDoc,
  type RunEnd,
  type RunError,
  WAITING_OF_MAPPING,
} from "./run.ts";

/** A run that waits for its mapping. */
type UnmappedRun = Pick<RunDoc, "_id" | "round"> & { readonly mapped: { readonly mapping: string } | null };

export class Runs {
  readonly collection: mongo.Collection<RunDoc>;
  readonly #inserter: BatchInserter<RunDoc>;
  readonly #clock: Clock;
  readonly #changes: ChangeNotifier;

  constructor(collection: mongo.Collection<RunDoc>, clock: Clock, changes: ChangeNotifier) {
    this.collection = collection;
    this.#inserter = new BatchInserter(
      collection,
      ({ mapped, request }) =>
        1_000 + (mapped?.call?.length ?? 0) + (mapped?.item?.json.length ?? 0) + (request?.message.length ?? 0),
    );
    this.#clock = clock;
    this.#changes = changes;
  }

  /** Tells of a change, if there was one. */
  #notifyIf<T>(runId: string, changed: T): T {
    if (changed) this.#changes.notify({ kind: "run", id: runId });
    return changed;
  }

  /**
   * Writes accepted runs down; one that is there already stays as it is.
   * @returns how many are new
   * @throws AppError unavailable, body_too_large
   */
  async accept(runs: readonly NewRun[]): Promise<number> {
    const now = this.#clock.now();
    const inserted = await this.#inserter.add(runs.map((run) => newRunDoc(run, now)));
    for (const { _id } of runs) this.#notifyIf(_id, inserted > 0);
    return inserted;
  }

  /** @throws AppError run_not_found, unavailable */
  async find(runId: string): Promise<RunDoc> {
    const run = await readFromCaughtUpPrimary(this.collection, () => this.collection.findOne({ _id: runId }));
    if (!run) throw runNotFound(runId);
    return run;
  }

  /** Counts the runs of a mapping that wait, up to a limit. @throws AppError unavailable */
  countWaiting(mapping: string, limit: number): Promise<number> {
    const waiting = { status: "queued" as const, "mapped.mapping": mapping };
    return readFromCaughtUpPrimary(this.collection, () =>
      this.collection.countDocuments(waiting, { limit, hint: WAITING_OF_MAPPING }),
    );
  }

  /** Reads what tells whom a run comes from; null where there is no such run. @throws AppError unavailable */
  findSender(runId: string): Promise<Pick<RunDoc, "_id" | "mapped"> | null> {
    const projection = { "mapped.mapping": 1 };
    return readFromCaughtUpPrimary(this.collection, () => this.collection.findOne({ _id: runId }, { projection }));
  }

  /** Reads how a run was accepted; null where there is no such run. @throws AppError unavailable */
  async findAcceptance(
    runId: string,
  ): Promise<{ fingerprint: string | undefined; createdAt: Date; sessionKey: string } | null> {
    const options = { projection: { fingerprint: 1, createdAt: 1, sessionKey: 1 } };
    const found = await readFromCaughtUpPrimary(this.collection, () =>
      this.collection.findOne({ _id: runId }, options),
    );
    return found && { fingerprint: found.fingerprint, createdAt: found.createdAt, sessionKey: found.sessionKey };
  }

  /** Those of the ids that are runs. @throws AppError unavailable */
  async findExisting(runIds: readonly string[]): Promise<Set<string>> {
    const query = { _id: { $in: [...runIds] } };
    const found = await readAll(this.collection, query, { projection: { _id: 1 } });
    return new Set(found.map(({ _id }) => _id));
  }

  /** Returns the run if it has ended and is not finalized, else null. @throws AppError unavailable */
  findUnfinalized(runId: string): Promise<RunDoc | null> {
    return readFromCaughtUpPrimary(this.collection, () => this.collection.findOne({ _id: runId, settled: false }));
  }

  /** Returns the run of a session that comes next: of those not ended the one accepted first. @throws AppError unavailable */
  findNext(sessionKey: string): Promise<Pick<RunDoc, "_id" | "stage"> | null> {
    const options = { projection: { stage: 1 }, sort: { order: 1 } } as const;
    return readFromCaughtUpPrimary(this.collection, () => this.collection.findOne({ sessionKey, open: true }, options));
  }

  /** Whether a run of the session ended after `since` and is not finalized. @throws AppError unavailable */
  async isFinalizing(sessionKey: string, since: Date): Promise<boolean> {
    const query = { settled: false, sessionKey, endedAt: { $gt: since } };
    const options = { projection: { _id: 1 }, hint: NOT_FINALIZED };
    return (await readFromCaughtUpPrimary(this.collection, () => this.collection.findOne(query, options))) !== null;
  }

  /**
   * Acquires a run that is past its mapping and waits, or whose worker's lease has expired.
   * @param run as it was read
   * @returns the run under its lease; null when it has changed since it was read
   * @throws AppError unavailable
   */
  async acquire({ _id, stage, status, attempts, round, claim }: RunDoc, lease: StoredLease): Promise<AgentRun | null> {
    const asRead = { stage, status, attempts, round, "claim.token": claim?.token, "claim.until": claim?.until };
    const free = claim ? asRead : { stage, status, attempts, round, claim: null };
    const change = {
      ...{ status: "running" as const, startedAt: this.#clock.now(), claim: lease, notBefore: null },
      attempts: attempts + 1,
    };
    // It may be written twice, so that a lost answer does not leave the run with a worker that is not aware of it.
    const query = { _id, $or: [free, { status: "running" as const, "claim.token": lease.token }] };
    const acquired = await mapMongoErrors(() =>
      retryOnce(() => this.collection.findOneAndUpdate(query, { $set: change }, { returnDocument: "after" })),
    );
    return this.#notifyIf(_id, acquired) as AgentRun | null;
  }

  /** Whether a run still waits for its mapping. */
  isUnmapped(runId: string, round: number): Promise<boolean> {
    return exists(this.collection, unmapped(runId, round));
  }

  /**
   * Notes what the mapping made of a run that waits for that.
   * @returns false when it waits no longer: cancelled, or seen to by another worker
   */
  async applyMapping(runId: string, round: number, mapped: MappingOutcome): Promise<boolean> {
    const { modifiedCount } = await mapMongoErrors(() =>
      this.collection.updateOne(unmapped(runId, round), {
        $set: { stage: "turn" as const, ...this.#fieldsOf(mapped) },
      }),
    );
    return this.#notifyIf(runId, modifiedCount === 1);
  }

  #fieldsOf(mapped: MappingOutcome): Partial<RunDoc> {
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

  /** @returns false when the run is no longer this worker's: cancelled, or acquired by another */
  renew(runId: string, { token, until }: StoredLease): Promise<boolean> {
    return this.#changeLeased(runId, token, { "claim.until": until });
  }

  /**
   * Ends a run that is still this worker's; does nothing to any other.
   * @throws AppError unavailable, body_too_large
   */
  async end({ _id, claim }: AgentRun, end: RunEnd): Promise<void> {
    this.#notifyIf(_id, await this.#changeLeased(_id, claim.token, ended(end, this.#clock.now())));
  }

  /** Gives the run back, to be tried again after a while. @returns false when it is no longer this worker's */
  async retryLater({ _id, claim }: AgentRun, notBefore: Date, error: RunError): Promise<boolean> {
    const waiting = { status: "queued", claim: null, notBefore, error };
    return this.#notifyIf(_id, await this.#changeLeased(_id, claim.token, waiting));
  }

  /** Gives the run back as if it had never been acquired. Does nothing when it is no longer this worker's. */
  async release({ _id, claim }: AgentRun): Promise<void> {
    const waiting = { status: "queued", claim: null };
    this.#notifyIf(_id, await this.#changeLeased(_id, claim.token, waiting, { $inc: { attempts: -1 } }));
  }

  async #changeLeased(runId: string, token: string, set: object, more: object = {}): Promise<boolean> {
    const { modifiedCount } = await mapMongoErrors(() =>
      this.collection.updateOne({ _id: runId, status: "running", "claim.token": token }, { $set: set, ...more }),
    );
    return modifiedCount === 1;
  }

  /**
   * Ends a run that has not ended.
   * @returns whether a worker was busy with it: that one finalizes it once the turn is over
   * @throws AppError run_not_found, run_state_conflict, unavailable
   */
  async cancel(runId: string): Promise<{ wasRunning: boolean }> {
    const error = { code: "cancelled" as const, message: "The run was cancelled." };
    const change = { $set: ended({ status: "failed", error }, this.#clock.now()) };
    const waiting = { _id: runId, status: "queued" as const };
    const { modifiedCount } = await mapMongoErrors(() => this.collection.updateOne(waiting, change));
    if (this.#notifyIf(runId, modifiedCount === 1)) return { wasRunning: false };
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
    const changed = await mapMongoErrors(() =>
      this.collection.findOneAndUpdate({ ...state, _id: runId }, change, { returnDocument: "after" }),
    );
    if (this.#notifyIf(runId, changed)) return changed as RunDoc;
    await this.find(runId);
    throw new AppError("run_state_conflict", { detail: `The run ${otherwise}.` });
  }

  /** Notes that a run is finalized. @throws AppError unavailable */
  async markFinalized({ _id, round }: Pick<RunDoc, "_id" | "round">): Promise<void> {
    await mapMongoErrors(() => this.collection.updateOne({ _id, round, settled: false }, { $set: { settled: true } }));
  }

  /** Notes that the job of a run has been created. @throws AppError unavailable */
  async markTracked(runId: string): Promise<void> {
    await mapMongoErrors(() => this.collection.updateOne({ _id: runId }, { $set: { tracked: true } }));
  }

  /** Deletes the runs that a query fits. @returns how many these were */
  async delete(query: mongo.Filter<RunDoc>): Promise<number> {
    const { deletedCount } = await mapMongoErrors(() => this.collection.deleteMany(query));
    if (deletedCount > 0) this.#changes.notify({ kind: "many" });
    return deletedCount;
  }

  /** Lists the runs that ended before a time and are not finalized. */
  listUnfinalized(before: Date): AsyncIterable<Pick<RunDoc, "_id">> {
    return this.collection.find({ settled: false, endedAt: { $lt: before } }, { projection: { _id: 1 } });
  }

  /** Lists the runs that wait for their mapping since before a time, the oldest first. */
  listUnmapped(before: Date): AsyncIterable<UnmappedRun> {
    const query = { open: true, stage: "mapping" as const, createdAt: { $lt: before } };
    const projection = { round: 1, "mapped.mapping": 1 };
    return this.collection.find<UnmappedRun>(query, { projection, sort: { createdAt: 1 } });
  }

  /** Lists of each session the run that comes next, where it waits since before a time or its lease has expired. */
  listDue(now: Date, before: Date): AsyncIterable<DueRun> {
    return listDue(this.collection, now, before);
  }
}

const unmapped = (runId: string, round: number) => ({ _id: runId, round, open: true, stage: "mapping" as const });

/** Returns the fields that a run gets at its end. */
function ended({ status, ...outcome }: RunEnd, now: Date) {
  const error = status === "completed" ? { error: null } : {};
  return { status, ...outcome, ...error, open: false, claim: null, notBefore: null, settled: false, endedAt: now };
}

export const runNotFound = (runId: string): AppError =>
  new AppError("run_not_found", { detail: `There is no run ${JSON.stringify(runId)}.` });
