import type { mongo } from "mongoose";
import { beginsWith, wordQueries } from "../db/nameSearch.ts";
import { createdWithin } from "../db/newestFirst.ts";
import type { RunDoc, RunStatus } from "./run.ts";

/** Conditions for a list or a count of runs. A run matches if it fulfils all that are given. */
export interface RunFilter {
  readonly status?: readonly RunStatus[] | undefined;
  readonly sessionKey?: string | undefined;
  /** The key of the mapping that made the run. */
  readonly mapping?: string | undefined;
  /** Words that each begin a word of the name, or the beginning of the runId. */
  readonly search?: string | undefined;
  readonly createdFrom?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** Returns the query for a filter. Each condition has an index of its own (run.ts). */
export const runQuery = ({
  status,
  sessionKey,
  mapping,
  search,
  createdFrom,
  createdBefore,
}: RunFilter): mongo.Filter<RunDoc> => ({
  ...(status && { status: { $in: [...status] } }),
  ...(sessionKey !== undefined && { sessionKey }),
  ...(mapping !== undefined && { "mapped.mapping": mapping }),
  ...(search !== undefined && { $or: [...wordQueries(search), { _id: beginsWith(search) }] }),
  ...createdWithin(createdFrom, createdBefore),
});
