import { ignore } from "../../shared/errors.ts";
import { reportStep, type StepReport } from "../jobs/reports/reportStep.ts";
import { type AgentRequest, ownWords, type RunDoc } from "./run.ts";
import type { RunStores } from "./runStores.ts";

/** Maximum characters of a reply in the job's output. Even with every character escaped, the output fits into a job. */
const MAX_REPLY_CHARS = 800_000;

/** The step of the agent's turn. The agent may report further steps. */
const STEP = { key: "agent", stepName: "Agent turn" } as const;

type TrackedRun = Pick<RunDoc, "_id" | "name" | "sessionKey" | "request" | "tracked"> & {
  readonly traceparent?: string | undefined;
};

/**
 * Creates the job that shows a run, under the run's id. Does so only once for each run, so that a deleted job is not created
 * again.
 */
export async function trackAccepted({ jobs, runs }: Pick<RunStores, "jobs" | "runs">, run: TrackedRun): Promise<void> {
  if (!run.request?.trackAsJob || run.tracked) return;
  const metadata = { runId: run._id, sessionKey: run.sessionKey };
  const { traceparent } = run;
  await jobs.put(run._id, {
    name: run.name ?? "Hook",
    metadata,
    staleAfterSeconds: staleAfter(run.request),
    traceparent,
  });
  await runs.markTracked(run._id);
}

/** Returns the seconds without a report after which the job is stale. A turn may take its whole time without a report. */
const staleAfter = ({ timeoutSeconds }: AgentRequest): number => Math.max(60, Math.ceil(timeoutSeconds) + 60);

/** Shows in the job that the run was retried by hand. */
export async function trackRetried(stores: RunStores, run: RunDoc): Promise<void> {
  await trackAccepted(stores, run);
  if (!run.request?.trackAsJob || !(await stores.jobs.collection.exists({ jobId: run._id }))) return;
  await stores.jobs.put(run._id, { status: "running", message: "Started again" });
}

/** Shows in the job that an attempt begins. */
export async function trackStarted(stores: RunStores, run: RunDoc): Promise<void> {
  await trackAccepted(stores, run); // The process that accepted the run may have died before it created the job.
  await track(stores, run, { status: "running", progress: 0, message: `Attempt ${run.attempts}` });
}

/** Shows in the job which tool the agent uses. */
export async function trackTool(stores: RunStores, run: RunDoc, tool: string): Promise<void> {
  await track(stores, run, { message: tool });
}

/** Shows in the job that an attempt failed and another will follow. */
export async function trackRetry(stores: RunStores, run: RunDoc, reason: string): Promise<void> {
  await track(stores, run, { status: "failed", message: `${reason} It will be tried again.` });
}

/** Ends the job with the status of the run. Its output is the reply. */
export async function trackEnded(stores: RunStores, run: RunDoc): Promise<void> {
  if (run.status === "completed") {
    const whole = run.reply ?? "";
    const reply = whole.slice(0, MAX_REPLY_CHARS);
    const output = {
      reply,
      ...(reply.length < whole.length && { truncated: true }),
      ...(run.replyCutOff && { cutOff: true }),
    };
    await track(stores, run, { status: "completed", progress: 100, message: "Completed", output });
  } else {
    if (run.error?.code === "cancelled" && run.request?.trackAsJob) {
      await stores.jobs
        .cancel(run._id, { reason: run.cancelReason ?? null })
        .catch(ignore("job_not_found", "job_ended"));
    }
    await track(stores, run, {
      status: "failed",
      failJob: true,
      message: run.error ? ownWords(run.error).message : undefined,
    });
  }
}

async function track(stores: RunStores, run: RunDoc, report: StepReport): Promise<void> {
  if (!run.request?.trackAsJob) return;
  const whole = { jobProgressStart: 0, jobProgressEnd: 100, stepName: STEP.stepName };
  // If the job was deleted, the run continues without it.
  await reportStep(stores, run._id, STEP.key, { ...whole, ...report }).catch(ignore("job_not_found"));
}
