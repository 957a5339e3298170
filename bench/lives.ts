/** Whole lives of jobs, from their creation to their completion. Each shape is one row of the table. */
import type { WorkRequest } from "./connection.ts";

/** Sends a request on one connection and resolves when its response has arrived. */
export type Send = (request: WorkRequest) => Promise<unknown>;

export interface Life {
  /** Number of connections that work on one job. */
  readonly width: number;
  /** Runs the whole life of a new job. @param senders one for each of `width` connections */
  live(senders: readonly Send[], jobId: string): Promise<void>;
}

export const jobPath = (jobId: string): string => `/api/jobs/${jobId}`;

export const put = (path: string, body: object): WorkRequest => ({
  method: "PUT",
  path,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

const create = (jobId: string): WorkRequest =>
  put(jobPath(jobId), {
    name: "Nightly import",
    description: "The nightly import of the partner's records.",
    input: { source: "https://partner.example/exports/nightly.tar.gz", records: 12_500, dryRun: false },
    metadata: { tenant: "tenant-7", priority: "normal", requestedBy: "scheduler" },
  });

const OUTPUT = { bytes: 48_211_004, files: 12, checked: true };

/** One step, and the part of the job's progress that it covers. */
interface Step {
  readonly stepKey: string;
  readonly range: readonly [start: number, end: number];
}

/**
 * Returns a step's reports as the client library sends them: stepName and range each time, status only when it changes.
 */
function reports(jobId: string, { stepKey, range }: Step, progresses: readonly number[]): WorkRequest[] {
  const [jobProgressStart, jobProgressEnd] = range;
  return progresses.map((progress) =>
    put(`${jobPath(jobId)}/steps/${stepKey}`, {
      stepName: `Step ${stepKey}`,
      jobProgressStart,
      jobProgressEnd,
      progress,
      message: `${progress * 125} of 12500 records done`,
      ...(progress === 0 && { status: "running" }),
      ...(progress === 100 && { status: "completed", output: OUTPUT }),
    }),
  );
}

const steps = (count: number, rangeOf: (i: number) => Step["range"]): Step[] =>
  Array.from({ length: count }, (_, i) => ({ stepKey: `step-${i}`, range: rangeOf(i) }));

const PIPELINE = steps(5, (i) => [20 * i, 20 * (i + 1)]);
const PIPELINE_PROGRESS = [0, 25, 50, 75, 100];

/** Five steps in sequence. The last report of the last step completes the job. */
const pipeline = (readsPerReport: number): Life => ({
  width: 1,
  async live(senders, jobId) {
    const send = senders[0]!;
    const read: WorkRequest = { method: "GET", path: jobPath(jobId) };
    await send(create(jobId));
    for (const step of PIPELINE) {
      for (const report of reports(jobId, step, PIPELINE_PROGRESS)) {
        await send(report);
        for (let i = 0; i < readsPerReport; i++) await send(read);
      }
    }
  },
});

const PARALLEL = steps(10, () => [0, 90]);
const PARALLEL_PROGRESS = [0, 20, 40, 60, 80, 100];
/** Completes the job. No report of the parallel steps can, whatever their order. */
const FINISH: Step = { stepKey: "finish", range: [90, 100] };

/** Ten steps at the same time, each reported on by a connection of its own. */
const fanout: Life = {
  width: PARALLEL.length,
  async live(senders, jobId) {
    const first = senders[0]!;
    await first(create(jobId));
    await Promise.all(
      PARALLEL.map(async (step, i) => {
        for (const report of reports(jobId, step, PARALLEL_PROGRESS)) await senders[i]!(report);
      }),
    );
    for (const report of reports(jobId, FINISH, [100])) await first(report);
  },
};

export const lives = { pipeline: pipeline(0), fanout, mixed: pipeline(3) } satisfies Record<string, Life>;
