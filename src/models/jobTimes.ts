import type { JobDoc } from "./job.ts";

/** How long a running job or step of this job may go without a report before it is stale, in milliseconds. */
export const staleAfterMs = (
  { staleAfterSeconds }: Pick<JobDoc, "staleAfterSeconds">,
  defaultSeconds: number,
): number => (staleAfterSeconds ?? defaultSeconds) * 1_000;

/**
 * A stage of an update that sets from when on the job is stale, after another stage has set what that depends on.
 * @param defaultSeconds for jobs that have no `staleAfterSeconds` of their own
 */
export const staleAtExpression = (defaultSeconds: number) => ({
  $cond: [
    { $eq: ["$status", "running"] },
    {
      $add: [
        { $ifNull: ["$lastReportAt", "$createdAt"] },
        { $multiply: [{ $ifNull: ["$staleAfterSeconds", defaultSeconds] }, 1_000] },
      ],
    },
    null,
  ],
});
