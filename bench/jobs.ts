import { send } from "./calls.ts";
import type { Service } from "./service.ts";

/** The environment variable with the number of jobs for the load. */
export const JOBS = "BENCH_JOBS";

/** Jobs of four steps: two are completed, the third is running, the fourth has not begun. */
export const JOB_IDS: readonly string[] = Array.from(
  { length: Number(process.env[JOBS] ?? 300) },
  (_, i) => `import-2026-${1_000 + i}`,
);

const DONE = [
  { stepKey: "download", stepName: "Download the archive", jobProgressStart: 0, jobProgressEnd: 20 },
  { stepKey: "unpack", stepName: "Unpack and check", jobProgressStart: 20, jobProgressEnd: 40 },
];
const RUNNING = {
  stepKey: "transform",
  stepName: "Transform the records",
  jobProgressStart: 40,
  jobProgressEnd: 80,
};

export const jobPath = (jobId: string) => `/api/jobs/${jobId}`;
export const runningStepPath = (jobId: string) => `${jobPath(jobId)}/steps/${RUNNING.stepKey}`;

/** Returns the running step's report at a progress. */
export function progressReport(progress: number): object {
  const { stepKey: _, ...step } = RUNNING;
  return { ...step, status: "running", progress, message: `${progress * 125} of 12500 records transformed` };
}

const CONCURRENCY = 32;

/**
 * Creates the jobs through the service's API, then reads one to check that it contains the current step.
 * @throws Error when a status is not 2xx or the current step is missing
 */
export async function fill(service: Service, jobIds: readonly string[] = JOB_IDS): Promise<void> {
  const waiting = [...jobIds];
  const worker = async () => {
    for (let jobId = waiting.pop(); jobId; jobId = waiting.pop()) await fillJob(service, jobId);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));

  const { text } = await send(service, { path: jobPath(JOB_IDS[0]!) });
  const read = JSON.parse(text) as { currentStep?: { stepKey?: string } };
  if (read.currentStep?.stepKey === RUNNING.stepKey) return;
  throw new Error(`${service.name} answers without the current step: ${text}`);
}

async function fillJob(service: Service, jobId: string): Promise<void> {
  const put = (path: string, body: object) => send(service, { method: "PUT", path, body });
  await put(jobPath(jobId), {
    name: `Import ${jobId}`,
    description: "The nightly import of the partner's records.",
    input: { source: `https://partner.example/exports/${jobId}.tar.gz`, records: 12_500, dryRun: false },
    metadata: { tenant: `tenant-${jobId.length % 7}`, priority: "normal", requestedBy: "scheduler" },
  });
  for (const { stepKey, ...step } of DONE) {
    const output = { bytes: 48_211_004, files: 12, checked: true };
    const body = { ...step, status: "completed", progress: 100, message: `${step.stepName}: done`, output };
    await put(`${jobPath(jobId)}/steps/${stepKey}`, body);
  }
  await put(runningStepPath(jobId), progressReport(5));
}
