import { AppError } from "../../shared/errors.ts";
import { Store } from "../db/store.ts";
import { NOT_FINALIZED, type RunDoc } from "./run.ts";

/** The reads of runs that accepting, executing and finalizing them need. The lists and views of the API are in readRuns.ts. */
export class RunReader extends Store<RunDoc> {
  /** Reads a run. @throws AppError run_not_found, unavailable */
  async find(runId: string): Promise<RunDoc> {
    const run = await this.collection.findOne({ _id: runId });
    if (!run) throw runNotFound(runId);
    return run;
  }

  /** Reads the fields that identify the sender of a run; null if the run does not exist. */
  findSender(runId: string): Promise<Pick<RunDoc, "_id" | "mapped"> | null> {
    const projection = { "mapped.mapping": 1, "mapped.sender": 1 };
    return this.collection.findOne({ _id: runId }, { projection });
  }

  /** Returns those of the given ids that are ids of runs. */
  async findExisting(runIds: readonly string[]): Promise<Set<string>> {
    const query = { _id: { $in: [...runIds] } };
    const found = await this.collection.find(query, { projection: { _id: 1 } });
    return new Set(found.map(({ _id }) => _id));
  }

  /** Returns the run if it has ended and is not finalized, else null. */
  findUnfinalized(runId: string): Promise<RunDoc | null> {
    return this.collection.findOne({ _id: runId, finalized: false });
  }

  /** Returns the next run of a session: the one accepted first among those that have not ended. */
  findNext(sessionKey: string): Promise<Pick<RunDoc, "_id" | "stage"> | null> {
    const options = { projection: { stage: 1 }, sort: { order: 1 } } as const;
    return this.collection.findOne({ sessionKey, open: true }, options);
  }

  /** Returns whether a run of the session ended after `since` and is not finalized. */
  async isFinalizing(sessionKey: string, since: Date): Promise<boolean> {
    const query = { finalized: false, sessionKey, endedAt: { $gt: since } };
    const options = { projection: { _id: 1 }, hint: NOT_FINALIZED };
    return (await this.collection.findOne(query, options)) !== null;
  }

  /** Returns whether the mapping of a run is not applied yet. */
  isUnmapped(runId: string, round: number): Promise<boolean> {
    return this.collection.exists(unmapped(runId, round));
  }
}

/** Returns the query for a run whose mapping is not applied yet in its round. */
export const unmapped = (runId: string, round: number) => ({
  _id: runId,
  round,
  open: true,
  stage: "mapping" as const,
});

export const runNotFound = (runId: string): AppError =>
  new AppError("run_not_found", { detail: `There is no run ${JSON.stringify(runId)}.` });
