import type { JobDoc } from "../job.ts";
import type { Jobs } from "../jobs.ts";

/** The fields by which rules choose the jobs that their messages follow. */
export type ChosenJob = Pick<JobDoc, "_id" | "jobId" | "name" | "metadataTerms" | "status" | "createdAt" | "returnTo">;

const CHOSEN = { jobId: 1, name: 1, metadataTerms: 1, status: 1, createdAt: 1, returnTo: 1 } as const;

/** Reads jobs by their ids. Jobs that do not exist are left out. */
export const findChosenJobs = ({ collection }: Jobs, jobIds: readonly string[]): Promise<ChosenJob[]> =>
  collection.find<ChosenJob>({ jobId: { $in: [...jobIds] } }, { projection: CHOSEN });

/** Yields the running jobs, the newest first, in batches. */
export const runningJobs = (
  { collection }: Jobs,
  batchSize: number,
  limit: number,
): AsyncGenerator<ChosenJob[], void> =>
  collection.inBatches<ChosenJob>(
    batchSize,
    { status: "running" },
    { projection: CHOSEN, sort: { createdAt: -1, _id: -1 }, limit },
  );

/** The fields that a message about the progress of a job shows. */
export interface JobProgress
  extends Pick<JobDoc, "_id" | "jobId" | "name" | "status" | "progress" | "message" | "createdAt" | "updatedAt">,
    Pick<JobDoc, "lastReportAt" | "openGates"> {
  readonly current: Pick<NonNullable<JobDoc["current"]>, "stepName" | "message"> | null;
}

const PROGRESS = {
  jobId: 1,
  name: 1,
  status: 1,
  progress: 1,
  message: 1,
  createdAt: 1,
  updatedAt: 1,
  lastReportAt: 1,
  openGates: 1,
  "current.stepName": 1,
  "current.message": 1,
} as const;

/** Reads the progress of a job; null if it was deleted, also if another one has its jobId now. */
export const findProgress = (
  { collection }: Jobs,
  { _id, jobId }: Pick<JobDoc, "_id" | "jobId">,
): Promise<JobProgress | null> => collection.findOne<JobProgress>({ _id, jobId }, { projection: PROGRESS });
