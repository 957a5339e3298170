import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { ChangeNotifier } from "../../shared/queue/changeStream.ts";
import type { Documents } from "../db/documents.ts";
import { BatchInserter } from "../db/insertAll.ts";
import { RecordLease, type StoredLease } from "../db/lease.ts";
import { retryOnce } from "../db/retry.ts";
import type { Note, NoteNotifier } from "../notes/note.ts";
import type { NoteOptions, WantedNotifications } from "../notes/wantedNotifications.ts";
import { type NewRun, newRunDoc } from "./acceptance.ts";
import { Arrivals } from "./arrivals.ts";
import { endUpdate, mappingUpdate } from "./endUpdate.ts";
import { pushFailedTry } from "./failedTries.ts";
import type { AgentRun, AttemptReport, MappingOutcome, RunDoc, RunError, RunOutcome } from "./run.ts";
import { RunReader, unmapped } from "./runReader.ts";
import { addTried } from "./usage/spending.ts";

/**
 * The runs and their transitions. Most methods make one transition of the states in run.ts: `accept` to queued; `acquire` to running;
 * `release`, `retryLater` and `resume` to queued; `wait` to waiting; `end` and `cancel` to an end; `retry` to queued, in the next
 * round. A transition under a lease changes nothing once the worker has lost the lease.
 */
export class Runs extends RunReader {
  readonly #inserter = new BatchInserter(
    this.collection,
    ({ mapped, request }) =>
      1_000 + (mapped?.call?.length ?? 0) + (mapped?.item?.json.length ?? 0) + (request?.message.length ?? 0),
  );
  readonly #lease = new RecordLease(this.collection, "lease", { status: "running" });
  readonly #changes: ChangeNotifier;
  readonly #notes: NoteNotifier;
  readonly #wanted: WantedNotifications;
  readonly arrivals = new Arrivals();

  constructor(collection: Documents<RunDoc>, clock: Clock, { changes, notes, wanted }: NoteOptions) {
    super(collection, clock);
    this.#changes = changes;
    this.#notes = notes;
    this.#wanted = wanted;
  }

  /** Notifies readers of live events that a run has changed. */
  #notify(runId: string): void {
    this.#changes.notify({ kind: "run", id: runId });
  }

  /** Updates a run under its lease. @returns false, without a change, if the worker has lost the lease */
  async #updateHeld({ _id, lease }: AgentRun, set: object, change: object): Promise<boolean> {
    const isUpdated = await this.#lease.updateHeld(_id, lease.token, set, change);
    if (isUpdated) this.#notify(_id);
    return isUpdated;
  }

  /** Triggers the dispatch of the event that an update has noted, if it has noted one. */
  #triggerNotes({ $push }: mongo.UpdateFilter<RunDoc>): void {
    if ($push?.notes !== undefined) this.#notes.noted();
  }

  /**
   * Stores accepted runs. Those that exist already stay unchanged.
   * @returns the number of new runs
   * @throws AppError unavailable, body_too_large
   */
  async accept(runs: readonly NewRun[]): Promise<number> {
    const now = this.clock.now();
    const inserted = await this.#inserter.add(runs.map((run) => newRunDoc(run, now)));
    if (inserted > 0) for (const { _id } of runs) this.#notify(_id);
    return inserted;
  }

  /**
   * Acquires a run that waits for its turn, or whose worker's lease has expired. Compares the whole state that was read, since it
   * decided that the run's turn has come.
   * @param run the run as it was read
   * @returns the run under its lease; null if it has changed since it was read
   */
  async acquire(
    { _id, stage, status, attempts, round, lease: former, startedAt }: RunDoc,
    lease: StoredLease,
  ): Promise<AgentRun | null> {
    const formerLease = former ? { "lease.token": former.token, "lease.until": former.until } : { lease: null };
    const asRead = { stage, status, attempts, round, ...formerLease };
    const change = {
      status: "running" as const,
      startedAt: this.clock.now(),
      lease,
      notBefore: null,
      attempts: attempts + 1,
    };
    // The update is idempotent, so that after a lost response the worker acquires the run by the second attempt.
    const query = { _id, $or: [asRead, { status: "running" as const, "lease.token": lease.token }] };
    const acquired = await retryOnce(() =>
      this.collection.findOneAndUpdate(query, { $set: change }, { returnDocument: "after" }),
    );
    if (!acquired) return null;
    this.#notify(_id);
    return { ...(acquired as AgentRun), isFirstStart: startedAt === null };
  }

  /**
   * Stores the outcome of a run's mapping.
   * @returns false if the run no longer waits for it, because it was cancelled or another worker has applied the mapping
   * @throws AppError unavailable, body_too_large
   */
  async applyMapping(runId: string, round: number, mapped: MappingOutcome): Promise<boolean> {
    const change = mappingUpdate(mapped, this.clock.now(), this.#wanted);
    const { modifiedCount } = await this.collection.updateOne(unmapped(runId, round), change);
    if (modifiedCount === 0) return false;
    this.#triggerNotes(change);
    this.#notify(runId);
    return true;
  }

  /** Renews the lease. @returns false if the worker no longer holds the run: it was cancelled, or another worker acquired it */
  renew(runId: string, lease: StoredLease): Promise<boolean> {
    return this.#lease.renew(runId, lease);
  }

  /**
   * Ends a run if the worker still holds it.
   * @throws AppError unavailable, body_too_large
   */
  async end(run: AgentRun, outcome: RunOutcome, report: AttemptReport = {}): Promise<void> {
    const now = this.clock.now();
    const { $set = {}, ...note } = endUpdate(outcome, now, this.#wanted);
    // An end by a budget is no failed try, whether it comes before the turn or during it.
    const isFailedTry = outcome.kind === "failed" && outcome.error.code !== "budget_exceeded";
    const failed = isFailedTry && pushFailedTry(run, outcome.error, report, now);
    const { $inc, $push } = addTried(report, run.lease.token, now);
    const change = { $inc, $push: { ...note.$push, ...failed, ...$push } };
    if (await this.#updateHeld(run, { ...$set, ...stderrOf(report) }, change)) this.#triggerNotes(note);
  }

  /** Releases a run for another attempt after a time. @returns false if the worker no longer holds it */
  async retryLater(run: AgentRun, notBefore: Date, error: RunError, report: AttemptReport = {}): Promise<boolean> {
    const queued = { status: "queued", lease: null, notBefore, error, ...stderrOf(report) };
    const now = this.clock.now();
    const { $inc, $push } = addTried(report, run.lease.token, now);
    const change = { $inc, $push: { ...pushFailedTry(run, error, report, now), ...$push } };
    return this.#updateHeld(run, queued, change);
  }

  /** Releases a run, if the worker still holds it. The attempt is not counted; its usage and `startedAt` stay. */
  async release(run: AgentRun, report: AttemptReport = {}): Promise<void> {
    const { $inc, $push } = addTried(report, run.lease.token, this.clock.now());
    await this.#updateHeld(run, { status: "queued", lease: null }, { $inc: { attempts: -1, ...$inc }, $push });
  }

  /**
   * Releases a run that waits for the answer to a gate. The attempt is not counted.
   * @returns false if the worker no longer holds it
   */
  wait(run: AgentRun, awaits: NonNullable<RunDoc["awaits"]>): Promise<boolean> {
    return this.#updateHeld(run, { status: "waiting", lease: null, awaits }, { $inc: { attempts: -1 } });
  }

  /** Queues a run whose gate is decided. @returns false if it does not wait for this gate */
  async resume(runId: string, gateId: string): Promise<boolean> {
    const isAwaiting = { _id: runId, status: "waiting" as const, "awaits.gateId": gateId };
    const { modifiedCount } = await this.collection.updateOne(isAwaiting, { $set: { status: "queued" } });
    if (modifiedCount === 1) this.#notify(runId);
    return modifiedCount === 1;
  }

  /** Makes a run one that is also a job. @throws AppError run_not_found, unavailable */
  async trackAsJob(runId: string): Promise<RunDoc> {
    await this.collection.updateOne({ _id: runId }, { $set: { "request.trackAsJob": true } });
    return this.find(runId);
  }

  /** Notes a notification about a run once, if a rule wants it. */
  async note(runId: string, note: Note): Promise<void> {
    if (!this.#wanted.types.has(note.type as never)) return;
    await this.collection.updateOne({ _id: runId, "notes.id": { $ne: note.id } }, { $push: { notes: note } });
    this.#notes.noted();
  }

  /**
   * Cancels a run that has not ended.
   * @param reason null without one
   * @returns whether a worker was running it. That worker finalizes it after the turn.
   * @throws AppError run_not_found, run_state_conflict, unavailable
   */
  async cancel(runId: string, reason: string | null = null): Promise<{ wasRunning: boolean }> {
    const message = reason === null ? "The run was cancelled." : `Cancelled: ${reason}`;
    const outcome: RunOutcome = {
      kind: "failed",
      error: { code: "cancelled", message },
      ...(reason !== null && { cancelReason: reason }),
    };
    const change = endUpdate(outcome, this.clock.now(), this.#wanted);
    const notRunning = { _id: runId, status: { $in: ["queued" as const, "waiting" as const] } };
    const { modifiedCount } = await this.collection.updateOne(notRunning, change);
    const wasRunning = modifiedCount === 0;
    if (wasRunning) await this.#changeIn(runId, { open: true }, change, () => "The run has already ended.");
    else this.#notify(runId);
    this.#triggerNotes(change);
    return { wasRunning };
  }

  /** Queues a failed run again, as its next round. @throws AppError run_not_found, run_state_conflict, unavailable */
  async retry(runId: string): Promise<RunDoc> {
    const noEnd = { endedAt: null, finalized: null, forgotten: false };
    const queuedAgain = { status: "queued" as const, open: true, attempts: 0, error: null, ...noEnd };
    return this.#changeIn(
      runId,
      { status: "failed", finalized: true },
      { $set: queuedAgain, $inc: { round: 1 }, $unset: { cancelReason: 1, awaits: 1 } },
      ({ status }) =>
        status === "failed"
          ? "The failure of the run is still being recorded: try again in a few seconds."
          : "Only a failed run can be retried.",
    );
  }

  async #changeIn(
    runId: string,
    state: mongo.Filter<RunDoc>,
    change: object,
    explain: (run: RunDoc) => string,
  ): Promise<RunDoc> {
    const changed = await this.collection.findOneAndUpdate({ ...state, _id: runId }, change, {
      returnDocument: "after",
    });
    if (!changed) throw new AppError("run_state_conflict", { detail: explain(await this.find(runId)) });
    this.#notify(runId);
    return changed;
  }

  /** Marks a run as finalized. */
  async markFinalized({ _id, round }: Pick<RunDoc, "_id" | "round">): Promise<void> {
    await this.collection.updateOne({ _id, round, finalized: false }, { $set: { finalized: true } });
  }

  /** Records that the job of a run has been created. */
  async markTracked(runId: string): Promise<void> {
    await this.collection.updateOne({ _id: runId }, { $set: { tracked: true } });
  }

  /** Deletes the runs that match a query. @returns the number of deleted runs */
  async delete(query: mongo.Filter<RunDoc>): Promise<number> {
    const { deletedCount } = await this.collection.deleteMany(query);
    if (deletedCount > 0) this.#changes.notify({ kind: "many" });
    return deletedCount;
  }
}

/** Returns the field of standard error of the latest ended attempt; empty if the program wrote nothing. */
const stderrOf = ({ stderr = "" }: AttemptReport) => ({ stderr });
