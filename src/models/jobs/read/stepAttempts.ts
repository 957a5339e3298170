import type { mongo } from "mongoose";
import type { Documents } from "../../db/documents.ts";
import type { JobDoc } from "../job.ts";
import type { StepDoc } from "../step.ts";

/** A step with the times of its attempts: the latest one, and the failed ones before it that are kept. */
export type AttemptedStep = Pick<
  StepDoc,
  "stepId" | "stepKey" | "stepName" | "status" | "attempts" | "startedAt" | "endedAt"
> & {
  readonly failedAttempts: readonly { readonly attempt: number; readonly startedAt: Date; readonly endedAt: Date }[];
};

/** The steps of one job, oldest first. */
export interface AttemptedJob {
  readonly _id: mongo.ObjectId;
  readonly steps: readonly AttemptedStep[];
}

/** Maximum jobs of a batch from MongoDB, whose steps may take megabytes each. */
const BATCH_SIZE = 4;

const STEP = {
  stepId: "$$this.v.stepId",
  stepKey: "$$this.v.stepKey",
  stepName: "$$this.v.stepName",
  status: "$$this.v.status",
  attempts: "$$this.v.attempts",
  startedAt: "$$this.v.startedAt",
  endedAt: "$$this.v.endedAt",
  failedAttempts: {
    $map: {
      input: { $ifNull: ["$$this.v.failedAttempts", []] },
      as: "one",
      in: { attempt: "$$one.attempt", startedAt: "$$one.startedAt", endedAt: "$$one.endedAt" },
    },
  },
};

/**
 * Yields the steps of the given jobs as `[{ stepKey: "fetch", status: "completed", attempts: 2, …, failedAttempts: [{ attempt: 1,
 * … }] }]`, without messages and outputs. A deleted job is left out.
 */
export const readAttempts = (
  jobs: Documents<JobDoc>,
  wanted: readonly Pick<JobDoc, "_id" | "jobId">[],
): AsyncGenerator<AttemptedJob, void> =>
  jobs.aggregateStream(
    [
      { $match: { jobId: { $in: wanted.map(({ jobId }) => jobId) }, _id: { $in: wanted.map(({ _id }) => _id) } } },
      { $project: { steps: { $map: { input: { $objectToArray: { $ifNull: ["$steps", {}] } }, in: STEP } } } },
    ],
    { batchSize: BATCH_SIZE },
  );
