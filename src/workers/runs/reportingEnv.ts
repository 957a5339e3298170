import { jobTrace } from "../../models/jobs/job.ts";
import type { JobTokens } from "../../models/jobs/tokens/jobTokens.ts";
import { type AgentRun, runTrace } from "../../models/runs/run.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError, ignore } from "../../shared/errors.ts";
import { traceparentOf } from "../../shared/traceContext.ts";

/** How long after the time limit of a run its token is valid: for the builds and trainings that the run has started. */
const OUTLIVES_MS = 7 * 86_400_000;

/**
 * Returns the environment variable with the trace of a run, which is that of the job that shows it; empty without traces.
 * @throws AppError unavailable
 */
export async function traceEnv({ jobs }: Pick<Stores, "jobs">, run: AgentRun): Promise<Record<string, string>> {
  if (!jobs.wanted.traces) return {};
  const job = run.tracked ? await jobs.find(run._id).catch(ignore("job_not_found")) : undefined;
  return { TRACEPARENT: traceparentOf(job ? jobTrace(job) : runTrace(run)) };
}

/**
 * Returns the environment variables with which a program reports on the job of its run, and on the jobs that it starts: the id
 * of its job, its session, the addresses of the service and of its MCP endpoint, and a token. Empty for a run without a job.
 * @param url the address of the service
 * @throws AppError unavailable
 */
export async function reportingEnv(
  { _id, sessionKey, request }: Pick<AgentRun, "_id" | "sessionKey" | "request">,
  jobTokens: Pick<JobTokens, "seal">,
  url: string,
): Promise<Record<string, string>> {
  if (!request.trackAsJob) return {};
  const names = { SIGNALBOX_JOB_ID: _id, SIGNALBOX_SESSION: sessionKey };
  const addresses = { ...names, SIGNALBOX_URL: url, SIGNALBOX_MCP_URL: `${url}/mcp` };
  try {
    const { token } = await jobTokens.seal(_id, "run", { ttlMs: request.timeoutSeconds * 1_000 + OUTLIVES_MS });
    return { ...addresses, SIGNALBOX_TOKEN: token };
  } catch (error) {
    if (error instanceof AppError && error.code === "job_not_found") return {}; // somebody has deleted the job
    throw error;
  }
}
