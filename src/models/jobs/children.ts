import type { mongo } from "mongoose";
import { Batcher, EQUAL_WEIGHTS } from "../../shared/batcher.ts";
import type { StatusCounts } from "../../wire/blocks.ts";
import type { Documents } from "../db/documents.ts";
import { CHILD_INDEX, type JobDoc, type Status } from "./job.ts";

export const NO_COUNTS: StatusCounts = { running: 0, completed: 0, failed: 0 };

/** Maximum children that one query counts, of all parents together: about a tenth of a second. */
const MAX_COUNTED = 100_000;

/** Number of children from which MongoDB counts them. */
const MANY = 500;

/**
 * Counts the children of jobs, those of concurrent reads in one query of an index. Jobs that no other job has named as its parent
 * are not looked up: most reads are of such jobs. A child may come before its parent, so that both mark the parent: the child
 * before it is written, and again afterwards if there was no parent; the parent after each change of its own.
 */
export class Children {
  readonly #collection: Documents<JobDoc>;
  readonly #counts: Batcher<string, StatusCounts>;

  constructor(collection: Documents<JobDoc>) {
    this.#collection = collection;
    this.#counts = new Batcher((jobIds) => countChildren(collection, jobIds), EQUAL_WEIGHTS);
  }

  /** Returns the number of a job's children by status. */
  async count({ jobId, isParent }: Pick<JobDoc, "jobId" | "isParent">): Promise<StatusCounts> {
    return isParent ? this.#counts.add(jobId) : NO_COUNTS;
  }

  /** Marks a job as a parent. @returns whether the job exists */
  async mark(jobId: string): Promise<boolean> {
    return (await this.#collection.updateOne({ jobId }, { $set: { isParent: true } })).matchedCount > 0;
  }

  /** Marks a job if it has children. @returns whether it has */
  async markIfAny(jobId: string): Promise<boolean> {
    const { running, completed, failed } = await this.#counts.add(jobId);
    return running + completed + failed > 0 && this.mark(jobId);
  }
}

async function countChildren(collection: Documents<JobDoc>, jobIds: readonly string[]): Promise<StatusCounts[]> {
  const isChild: mongo.Filter<JobDoc> = {
    $and: [{ parentJobId: { $in: [...new Set(jobIds)] } }, { parentJobId: { $type: "string" as const } }],
  };
  const counts = new Map<string, StatusCounts>();
  for (const { parentJobId, status, count } of await countGroups(collection, isChild)) {
    const before = counts.get(parentJobId) ?? NO_COUNTS;
    counts.set(parentJobId, { ...before, [status]: before[status] + count });
  }
  return jobIds.map((jobId) => counts.get(jobId) ?? NO_COUNTS);
}

interface Group {
  readonly parentJobId: string;
  readonly status: Status;
  readonly count: number;
}

/** Reads the entries of the index, which is enough for most jobs. MongoDB groups those of jobs with many children. */
async function countGroups(collection: Documents<JobDoc>, isChild: mongo.Filter<JobDoc>): Promise<Group[]> {
  const projection = { _id: 0, parentJobId: 1, status: 1 } as const;
  const options = { projection, hint: CHILD_INDEX, limit: MANY };
  const few = await collection.find<Pick<Group, "parentJobId" | "status">>(isChild, options);
  if (few.length < MANY) return few.map((child) => ({ ...child, count: 1 }));
  return collection.aggregate<Group & mongo.Document>(
    [
      { $match: isChild },
      { $limit: MAX_COUNTED },
      { $group: { _id: { parentJobId: "$parentJobId", status: "$status" }, count: { $sum: 1 } } },
      { $project: { _id: 0, parentJobId: "$_id.parentJobId", status: "$_id.status", count: 1 } },
    ],
    { hint: CHILD_INDEX },
  );
}
