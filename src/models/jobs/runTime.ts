import type { mongo } from "mongoose";
import type { Usual } from "../../wire/job.ts";

/** The fields of a job that its running time depends on. */
export interface RunTimes {
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly startedAt?: Date;
  readonly waitingSince?: Date;
  readonly waitedMs?: number;
}

/** The projection of these fields. */
export const RUN_TIMES = { createdAt: 1, endedAt: 1, startedAt: 1, waitingSince: 1, waitedMs: 1 } as const;

/** Returns when a job was created, or last started again after its end. */
export const startOf = ({ createdAt, startedAt }: RunTimes): Date => startedAt ?? createdAt;

/** Returns how long a job has run until its end or now, in milliseconds. Waiting for a person does not count. */
export function runningMs(job: RunTimes, now: Date): number {
  const until = Math.min((job.endedAt ?? now).getTime(), job.waitingSince?.getTime() ?? Number.POSITIVE_INFINITY);
  return Math.max(0, until - startOf(job).getTime() - (job.waitedMs ?? 0));
}

/** Returns when a running job usually ends; null for an ended one, while it waits for a person, and without a history. */
export function expectedEndAt(job: RunTimes & { readonly status: string }, usual: Usual | null): Date | null {
  if (job.status !== "running" || job.waitingSince || !usual) return null;
  return new Date(startOf(job).getTime() + (job.waitedMs ?? 0) + usual.p50Ms);
}

/** The `slowAt` of a job that waits for a person: nobody announces it as slow. */
export const NEVER = new Date("9999-12-31T00:00:00Z");

const HAS_ENDED = { $in: ["$status", ["completed", "failed"]] };
const IS_WAITING = { $gt: [{ $size: { $ifNull: ["$openGates", []] } }, 0] };

/** Returns the fields that a change to the status running sets, before the status: an ended job starts again. */
export const restarted = (now: Date): mongo.Document => ({
  startedAt: { $cond: [HAS_ENDED, now, "$startedAt"] },
  waitedMs: { $cond: [HAS_ENDED, "$$REMOVE", "$waitedMs"] },
  waitingSince: { $cond: [HAS_ENDED, { $cond: [IS_WAITING, now, "$$REMOVE"] }, "$waitingSince"] },
});

/** Returns the fields that a change sets, before the status, if rules announce slow jobs: see slowJobs.ts. */
export function slowFields(status: string | undefined, now: Date): mongo.Document {
  const isNew = { $eq: [{ $type: "$createdAt" }, "missing"] };
  const starts = status === "running" ? { $or: [isNew, HAS_ENDED] } : isNew;
  return { slowAt: { $cond: [starts, now, "$slowAt"] }, slowRules: { $cond: [starts, "$$REMOVE", "$slowRules"] } };
}

/** Returns the stage that follows a change of the open gates. What a job waits for after its end does not count. */
export function waitingStage(now: Date): mongo.Document {
  const until = { $min: [now, { $ifNull: ["$endedAt", now] }] };
  const ended = { $max: [0, { $subtract: [until, "$waitingSince"] }] };
  const waitedMs = { $cond: ["$waitingSince", { $add: [{ $ifNull: ["$waitedMs", 0] }, ended] }, "$waitedMs"] };
  return {
    $set: {
      waitedMs: { $cond: [IS_WAITING, "$waitedMs", waitedMs] },
      waitingSince: { $cond: [IS_WAITING, { $ifNull: ["$waitingSince", now] }, "$$REMOVE"] },
      // The scan then adds the waited time.
      slowAt: { $cond: ["$slowAt", { $cond: [IS_WAITING, NEVER, now] }, "$$REMOVE"] },
    },
  };
}
