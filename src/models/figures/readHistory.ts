import { createHash } from "node:crypto";
import { mongo } from "mongoose";
import { AppError } from "../../shared/errors.ts";
import { MAX_RUNS, type NameHistory } from "../../wire/history.ts";
import type { Expectation } from "../../wire/notify.ts";
import { decodeCursor, encodeCursor } from "../db/cursor.ts";
import { nameKey } from "../db/nameSearch.ts";
import { FAILED_INDEX, type JobDoc } from "../jobs/job.ts";
import type { JobScope } from "../jobs/jobScope.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { RUN_TIMES, runningMs, startOf } from "../jobs/runTime.ts";
import { scopeQuery } from "../jobs/search/jobFilter.ts";

/** Maximum time that MongoDB takes to find the names of a window, in milliseconds. */
const MAX_TIME_MS = 5_000;
/** Maximum names of a window: those with the newest jobs. */
const MAX_NAMES = 10_000;
/** Maximum jobs in which the names of a confined caller are looked for: the newest ones. */
const MAX_SCOPED_JOBS = 10_000;
/** Names that differ in digits alone are folded if there are more of them. */
const MAX_ALIKE = 5;
/** Maximum characters of a message. */
const MAX_MESSAGE_CHARS = 300;

interface HistoryQuery {
  readonly since: Date;
  readonly scope: JobScope | undefined;
  /** Exactly one name, as a history shows it. */
  readonly name?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Jobs of one name, or of names that differ in digits alone. */
interface Group {
  readonly name: string;
  /** The keys of the names with the newest jobs, as many as runs are shown. */
  readonly keys: readonly string[];
  readonly newestName: string;
  /** The position in the list: when the newest job was created, and a number that the name has. */
  readonly createdAt: Date;
  readonly _id: mongo.ObjectId;
}

/**
 * Returns the jobs of a window by name, the name with the newest job first. Children of other jobs count too.
 * @param expectations give the times by which further jobs are due
 */
export async function readHistory(
  jobs: Jobs,
  query: HistoryQuery,
  expectations: readonly Expectation[],
  now: Date,
): Promise<{ names: NameHistory[]; nextCursor: string | null }> {
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
  const isAfter = ({ createdAt, _id }: Group) =>
    !after ||
    createdAt < after.createdAt ||
    (createdAt.getTime() === after.createdAt.getTime() && _id.toHexString() > after._id.toHexString());
  const groups = foldNames(await readNames(jobs, query))
    .filter((group) => isAfter(group) && (query.name === undefined || group.name === query.name))
    .sort(
      (a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a._id.toHexString() < b._id.toHexString() ? -1 : 1),
    );
  const page = groups.slice(0, query.limit);
  const usual = await jobs.usual.read(page.map(({ newestName }) => newestName));
  const names = await Promise.all(
    page.map(async (group): Promise<NameHistory> => {
      const runs = await readRuns(jobs, group, query);
      const failed = runs.find((job) => stateOf(job) === "failed") ?? (await readFailed(jobs, group, runs, query));
      return {
        name: group.name,
        runs: runs.map((job) => ({
          jobId: job.jobId,
          status: stateOf(job),
          durationMs: runningMs(job, now),
          startedAt: startOf(job).toISOString(),
        })),
        usual: usual.get(group.newestName) ?? null,
        lastFailure: failed
          ? { jobId: failed.jobId, at: (failed.endedAt ?? now).toISOString(), message: failed.message || null }
          : null,
        nextDueAt: nextDueAt(group, expectations),
      };
    }),
  );
  const last = groups.length > page.length ? page.at(-1) : undefined;
  return { names, nextCursor: last ? encodeCursor(last) : null };
}

interface Name {
  readonly _id: string;
  readonly name: string;
  readonly newest: Date;
}

/** Reads the names of the window. MongoDB skips from name to name in the index; for a confined caller it reads the newest jobs. */
async function readNames({ collection }: Jobs, { since, scope }: HistoryQuery): Promise<Name[]> {
  const group = { $group: { _id: "$nameKey", name: { $first: "$name" }, newest: { $first: "$createdAt" } } };
  const first = scope
    ? [
        { $match: { $and: [scopeQuery(scope), { createdAt: { $gte: since } }] } },
        { $sort: { createdAt: -1, _id: -1 } },
        { $limit: MAX_SCOPED_JOBS },
        { $project: { nameKey: 1, name: 1, createdAt: 1 } },
      ]
    : [{ $sort: { nameKey: 1, createdAt: -1, _id: -1 } }];
  const inWindow = { $match: { _id: { $ne: null }, newest: { $gte: since } } };
  const stages = [...first, group, inWindow, { $sort: { newest: -1 } }, { $limit: MAX_NAMES }];
  return collection.aggregate<Name>(stages, { maxTimeMS: MAX_TIME_MS }).catch(orTooMany);
}

function orTooMany(error: unknown): never {
  if (!(error instanceof mongo.MongoServerError) || error.codeName !== "MaxTimeMSExpired") throw error;
  const detail = "There are too many jobs to list them by name. Delete old jobs: see `jobs.retention`.";
  throw new AppError("unavailable", { detail, retryAfterSeconds: 60, cause: error });
}

/** @param names newest first */
function foldNames(names: readonly Name[]): Group[] {
  const alike = Map.groupBy(names, ({ name }) => name.replace(/\d+/g, "#"));
  return [...alike].flatMap(([folded, group]) =>
    group.length > MAX_ALIKE ? [groupOf(folded, group)] : group.map((one) => groupOf(one.name, [one])),
  );
}

function groupOf(name: string, names: readonly Name[]): Group {
  const { newest, name: newestName } = names[0] as Name;
  const id = createHash("sha256").update(name).digest("hex").slice(0, 24);
  const keys = names.slice(0, MAX_RUNS).map(({ _id }) => _id);
  return { name, keys, newestName, createdAt: newest, _id: new mongo.ObjectId(id) };
}

type Run = Pick<JobDoc, "jobId" | "status" | "cancel" | "message" | "createdAt" | "endedAt" | "startedAt"> &
  Pick<JobDoc, "waitingSince" | "waitedMs">;

const stateOf = ({ status, cancel }: Run) => (status === "failed" && cancel ? "cancelled" : status);

const message = { $substrCP: [{ $ifNull: ["$message", ""] }, 0, MAX_MESSAGE_CHARS] };
const OPTIONS = {
  projection: { jobId: 1, status: 1, "cancel.requestedAt": 1, message, ...RUN_TIMES },
  sort: { createdAt: -1, _id: -1 },
  maxTimeMS: MAX_TIME_MS,
} as const;

const runsQuery = ({ keys }: Group, { since, scope }: HistoryQuery) => ({
  $and: [{ nameKey: { $in: [...keys] }, createdAt: { $gte: since } }, ...(scope ? [scopeQuery(scope)] : [])],
});

const readRuns = ({ collection }: Jobs, group: Group, query: HistoryQuery): Promise<Run[]> =>
  collection.find<Run>(runsQuery(group, query), { ...OPTIONS, limit: MAX_RUNS }).catch(orTooMany);

/** Reads the newest failed job of a name that was not cancelled, if the name has more jobs than its runs. */
async function readFailed({ collection }: Jobs, group: Group, runs: readonly Run[], query: HistoryQuery) {
  if (runs.length < MAX_RUNS) return undefined;
  const failed = { ...runsQuery(group, query), status: "failed" as const, "cancel.requestedAt": null };
  const options = { ...OPTIONS, hint: FAILED_INDEX, sort: { createdAt: -1 } as const, limit: 1 };
  return (await collection.find<Run>(failed, options).catch(orTooMany))[0];
}

/** Returns the first time by which an expectation needs a further job of a group. */
function nextDueAt({ keys }: Group, expectations: readonly Expectation[]): string | null {
  const due = expectations.flatMap(({ name, nextDueAt }) =>
    nextDueAt !== null && keys.some((key) => key.startsWith(nameKey(name))) ? nextDueAt : [],
  );
  return due.toSorted()[0] ?? null;
}
