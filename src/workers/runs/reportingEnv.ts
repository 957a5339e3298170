import type { JobTokens } from "../../models/jobs/tokens/jobTokens.ts";
import type { AgentRun } from "../../models/runs/run.ts";
import { AppError } from "../../shared/errors.ts";

/**
 * Returns the environment variables with which a program reports on the job of its run: its id, the addresses of the service
 * and of its MCP endpoint, and a token for this job that ends with the time limit of the run. Empty for a run without a job.
 * @param url the address of the service
 * @throws AppError unavailable
 */
export async function reportingEnv(
  { _id, request }: Pick<AgentRun, "_id" | "request">,
  jobTokens: Pick<JobTokens, "seal">,
  url: string,
): Promise<Record<string, string>> {
  if (!request.trackAsJob) return {};
  const addresses = { SIGNALBOX_JOB_ID: _id, SIGNALBOX_URL: url, SIGNALBOX_MCP_URL: `${url}/mcp` };
  try {
    const { token } = await jobTokens.seal(_id, "report", { ttlMs: request.timeoutSeconds * 1_000 });
    return { ...addresses, SIGNALBOX_TOKEN: token };
  } catch (error) {
    if (error instanceof AppError && error.code === "job_not_found") return {}; // somebody has deleted the job
    throw error;
  }
}
