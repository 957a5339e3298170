import { jobNotFound } from "../../models/jobs/jobs.ts";
import { readLastLines } from "../../models/jobs/log/readLog.ts";
import { lastSteps } from "../../models/jobs/read/readSteps.ts";
import { viewJobs } from "../../models/jobs/read/viewJobs.ts";
import type { Shared } from "../../models/jobs/tokens/jobTokens.ts";
import type { Stores } from "../../models/stores.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import type { SharedJob } from "../../wire/share.ts";

/** Maximum steps that a link shows: the last ones in the order of their creation. */
const MAX_STEPS = 200;
/** Maximum lines of the log that a link shows: the last ones. */
const MAX_LINES = 200;

/**
 * Returns what a link shows of its job. Input and metadata are not even read.
 * @throws AppError job_not_found (it was deleted since), unavailable
 */
export async function readSharedJob(stores: Stores, { job, include, expiresAt }: Shared): Promise<SharedJob> {
  const hasOutput = include.includes("output");
  const shown = { ...job, input: null, metadata: null, ...(!hasOutput && { output: null }) };
  const [[view], { steps, count }, lines] = await Promise.all([
    viewJobs(stores, [shown]),
    lastSteps(stores, job.jobId, MAX_STEPS),
    include.includes("log") ? readLastLines(stores.logs, job._id, MAX_LINES) : undefined,
  ]);
  if (!view) throw jobNotFound(job.jobId);
  return {
    title: job.name ?? job.jobId,
    status: view.status === "failed" && view.cancel ? "cancelled" : view.status,
    progress: view.progress,
    message: view.message,
    stale: view.stale,
    waiting: view.waitingFor.length > 0,
    createdAt: view.createdAt,
    lastReportAt: view.lastReportAt,
    endedAt: job.endedAt?.toISOString() ?? null,
    steps: steps.map(({ stepName, status, progress, startedAt, endedAt }) => ({
      stepName,
      status,
      progress,
      startedAt: startedAt.toISOString(),
      endedAt: endedAt?.toISOString() ?? null,
    })),
    stepCount: count,
    ...(hasOutput && { output: view.output }),
    ...(lines && {
      log: lines.map(({ at, level, text }) => ({ at: at.toISOString(), level, text: sanitizeText(text) })),
    }),
    expiresAt: expiresAt.toISOString(),
  };
}
