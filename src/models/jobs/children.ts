import { Batcher, EQUAL_WEIGHTS } from "../../shared/batcher.ts";
import type { StatusCounts } from "../../wire/blocks.ts";
import type { Documents } from "../db/documents.ts";
import { CHILD_INDEX, type JobDoc, type Status } from "./job.ts";

export const NO_COUNTS: StatusCounts = { running: 0, completed: 0, failed: 0 };

/** Maximum children that one query counts, of all parents together: about a tenth of a second. */
const MAX_COUNTED = 100_000;

/** Counts the children of jobs, those of concurrent reads in one query of an index. */
export class Children {
  readonly #counts: Batcher<string, StatusCounts>;

  constructor(collection: Documents<JobDoc>) {
    this.#counts = new Batcher((jobIds) => countChildren(collection, jobIds), EQUAL_WEIGHTS);
  }

  /** Returns the number of a job's children by status. @throws AppError unavailable */
  count(jobId: string): Promise<StatusCounts> {
    return this.#counts.add(jobId);
  }
}

/** For example `[{ _id: { parentJobId: "build-7", status: "failed" }, count: 2 }]` is one group. */
async function countChildren(collection: Documents<JobDoc>, jobIds: readonly string[]): Promise<StatusCounts[]> {
  const isChild = [{ parentJobId: { $in: [...new Set(jobIds)] } }, { parentJobId: { $type: "string" } }];
  const groups = await collection.aggregate<{ _id: { parentJobId: string; status: Status }; count: number }>(
    [
      { $match: { $and: isChild } },
      { $limit: MAX_COUNTED },
      { $group: { _id: { parentJobId: "$parentJobId", status: "$status" }, count: { $sum: 1 } } },
    ],
    { hint: CHILD_INDEX },
  );
  const counts = new Map<string, StatusCounts>();
  for (const { _id, count } of groups) {
    counts.set(_id.parentJobId, { ...(counts.get(_id.parentJobId) ?? NO_COUNTS), [_id.status]: count });
  }
  return jobIds.map((jobId) => counts.get(jobId) ?? NO_COUNTS);
}
