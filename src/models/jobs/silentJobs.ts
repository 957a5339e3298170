import type { mongo } from "mongoose";
import type { Documents } from "../db/documents.ts";
import { partFailure } from "../db/mongoErrors.ts";
import { appendNotes, newNoteId } from "../notes/note.ts";
import { returnFields } from "../notes/returnTo.ts";
import type { JobDoc } from "./job.ts";
import { WAS } from "./jobNotes.ts";
import { SILENT_SINCE, silentMs, staleJobs } from "./jobTimes.ts";

type JobCollection = Documents<JobDoc>;

/** The `staleMinute` of jobs that were announced as stale. No other job has it, and lists of stale jobs contain it. */
const ANNOUNCED = new Date(0);

/** When silent jobs are announced. */
export interface SilenceScan {
  readonly now: Date;
  /** The end of an outage of Signalbox, during which jobs could not report; null if there was none. */
  readonly resumedAt: Date | null;
  /** The `staleAfterSeconds` of jobs that have none of their own. */
  readonly staleAfterSeconds: number;
  /** Whether only the jobs that wake a session then are announced, because no rule announces the others. */
  readonly onlyReturning: boolean;
}

/** Returns the query for stale jobs that may not be announced yet. After an outage each job has one more stale period. */
function unannounced({ now, resumedAt, staleAfterSeconds, onlyReturning }: SilenceScan): mongo.Filter<JobDoc> {
  const returning = onlyReturning ? [{ "returnTo.on": "stale" as const }] : [];
  const stale = { $and: [staleJobs(now), { staleMinute: { $gt: ANNOUNCED } }, ...returning] };
  if (resumedAt === null) return stale;
  return { ...stale, $expr: { $lte: [{ $add: [resumedAt, silentMs(staleAfterSeconds)] }, now] } };
}

/**
 * Notes that jobs are stale, once for each silence. A job whose record MongoDB cannot update is never announced.
 * @returns the number of jobs that were looked at; fewer than `limit` when all stale jobs are noted
 * @throws the driver's error, or AppError body_too_large, if updates of single jobs failed, after all others
 */
export async function noteSilent(collection: JobCollection, scan: SilenceScan, limit: number): Promise<number> {
  const projection = { jobId: 1, staleAt: 1 };
  const found = await collection.find(unannounced(scan), { projection, limit, sort: { staleMinute: 1 } });
  if (found.length === 0) return 0;
  const updates = found.map(({ _id, jobId, staleAt }) => ({
    // A report in between changes `staleAt`.
    updateOne: { filter: { _id, jobId, status: "running" as const, staleAt }, update: announce(newNoteId(), scan.now) },
  }));
  await collection.bulkWrite(updates, { ordered: false }).catch(async (error: unknown) => {
    // These jobs are not found again, so that the next pass reaches the others.
    await collection.updateMany({ _id: { $in: failedWrites(found, error) } }, { $set: { staleMinute: ANNOUNCED } });
    throw error;
  });
  return found.length;
}

/** Returns the ids of the jobs whose own updates failed. @param found the jobs in the order of their updates */
export function failedWrites(found: readonly Pick<JobDoc, "_id">[], error: unknown): mongo.ObjectId[] {
  return [partFailure(error)?.writeErrors ?? []].flat().flatMap(({ index }) => found[index]?._id ?? []);
}

/** Returns the update that notes a silence, unless it was noted before. */
function announce(id: string, now: Date): mongo.Document[] {
  const isNoted = { $eq: ["$silence.since", SILENT_SINCE] };
  const note = { id, type: "job.stale", at: now, was: WAS, ...returnFields("stale") };
  const silence = { id, since: SILENT_SINCE };
  return [
    {
      $set: {
        notes: { $cond: [isNoted, "$notes", appendNotes([note])] },
        silence: { $cond: [isNoted, "$silence", silence] },
        staleMinute: ANNOUNCED,
      },
    },
  ];
}
