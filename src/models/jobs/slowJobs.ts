import type { mongo } from "mongoose";
import type { Usual } from "../../wire/job.ts";
import type { Documents } from "../db/documents.ts";
import { appendNotes, newNoteId } from "../notes/note.ts";
import type { JobDoc } from "./job.ts";
import type { UsualSource } from "./jobCounter.ts";
import { WAS } from "./jobNotes.ts";
import { NEVER, RUN_TIMES, runningMs, startOf } from "./runTime.ts";
import { failedWrites } from "./silentJobs.ts";

/*
 * The scan finds a slow job by `slowAt`, which a job has from its start if a rule is about slow jobs. No report and no request
 * waits for the durations of other jobs: `slowAt` is the start at first, and the first pass of the scan sets the time at which the
 * job is slow. It is removed after the last rule.
 */

/** When a rule announces a job as slow. */
export interface SlowRule {
  readonly id: string;
  /** The multiple of p95; undefined if only `longerThanMs` counts. */
  readonly factor: number | undefined;
  /** The least time, for `factor`. */
  readonly afterMs: number;
  readonly longerThanMs: number | undefined;
}

export interface SlowScan {
  readonly now: Date;
  readonly rules: readonly SlowRule[];
}

type RunningJob = Pick<JobDoc, "_id" | "jobId" | "name" | "slowAt" | "slowRules" | "createdAt" | "endedAt"> &
  Pick<JobDoc, "startedAt" | "waitingSince" | "waitedMs">;

const PROJECTION = { jobId: 1, name: 1, slowAt: 1, slowRules: 1, ...RUN_TIMES } as const;

/**
 * Notes that jobs are slow, once for each job and rule. A job whose record MongoDB cannot update is never announced.
 * @returns the number of jobs that were looked at; fewer than `limit` when none is left
 * @throws the driver's error, or AppError body_too_large, if updates of single jobs failed, after all others
 */
export async function noteSlow(
  collection: Documents<JobDoc>,
  usual: UsualSource,
  { now, rules }: SlowScan,
  limit: number,
): Promise<number> {
  const query = { status: "running" as const, slowAt: { $lte: now } };
  const found = await collection.find<RunningJob>(query, { projection: PROJECTION, limit, sort: { slowAt: 1 } });
  if (found.length === 0) return 0;
  const usuals = await usual.read(found.map(({ name }) => name));
  const updates = found.map((job) => {
    const { _id, jobId, slowAt } = job;
    // A gate that opens or closes in between changes `slowAt`.
    const filter = { _id, jobId, status: "running" as const, slowAt: slowAt as Date };
    return { updateOne: { filter, update: announce(job, rules, usuals.get(job.name) ?? null, now) } };
  });
  await collection.bulkWrite(updates, { ordered: false }).catch(async (error: unknown) => {
    // These jobs are not found again, so that the next pass reaches the others.
    await collection.updateMany({ _id: { $in: failedWrites(found, error) } }, { $unset: { slowAt: 1 } });
    throw error;
  });
  return found.length;
}

/** Returns the update that notes that a job is slow, if it is, and sets when it is slow for another rule. */
function announce(job: RunningJob, rules: readonly SlowRule[], usual: Usual | null, now: Date): mongo.Document[] {
  if (job.waitingSince) return [{ $set: { slowAt: NEVER } }];
  const elapsedMs = runningMs(job, now);
  const limits = rules
    .filter(({ id }) => !job.slowRules?.includes(id))
    .map((rule) => ({ id: rule.id, ms: limitMs(rule, usual) }));
  const slow = limits.filter(({ ms }) => ms <= elapsedMs).map(({ id }) => id);
  const next = Math.min(...limits.flatMap(({ ms }) => (ms > elapsedMs ? ms : [])));
  const startMs = startOf(job).getTime() + (job.waitedMs ?? 0);
  const slowAt = Number.isFinite(next) ? new Date(startMs + next) : "$$REMOVE";
  if (slow.length === 0) return [{ $set: { slowAt } }];
  const note = { id: newNoteId(), type: "job.slow", at: now, was: WAS, rules: slow, elapsedMs };
  return [{ $set: { slowAt, slowRules: [...(job.slowRules ?? []), ...slow], notes: appendNotes([note]) } }];
}

/** Returns the time after which a job is slow for a rule, in milliseconds; infinity if it never is. */
function limitMs({ factor, afterMs, longerThanMs = Number.POSITIVE_INFINITY }: SlowRule, usual: Usual | null): number {
  return factor === undefined || !usual
    ? longerThanMs
    : Math.min(longerThanMs, Math.max(afterMs, factor * usual.p95Ms));
}
