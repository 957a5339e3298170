import { expect } from "chai";
import pLimit from "p-limit";
import { eventually } from "./eventually.ts";

/** Sends a request and returns the answer. */
type Call = (path: string, method?: string, body?: object) => Promise<{ status: number; text: string }>;

export interface Lives {
  readonly jobs: number;
  /** How many jobs begin each minute; all at once without it. */
  readonly perMinute?: number;
}

/** How long a test under load takes in the nightly run; 0 in the gate, where it takes some seconds. */
export const MINUTES = Number(process.env.TEST_MINUTES ?? 0);

const STEPS = 4;
/** Maximum jobs under way at once. */
const CONCURRENCY = 10;
/** Each so many jobs, an agent is woken. */
const JOBS_PER_RUN = 10;

/**
 * Sends the whole lives of jobs: each is created, reports its steps with outputs until it is completed, and is read. Some of
 * them also wake an agent. Resolves when all jobs and runs are completed.
 */
export async function sendLives(call: Call, { jobs, perMinute = Number.POSITIVE_INFINITY }: Lives): Promise<void> {
  const limit = pLimit(CONCURRENCY);
  const began = performance.now();
  const lives = Array.from({ length: jobs }, async (_, i) => {
    const dueMs = (i * 60_000) / perMinute - (performance.now() - began);
    if (dueMs > 0) await new Promise((due) => setTimeout(due, dueMs));
    await limit(() => sendLife(call, `life-${i}`));
    if (i % JOBS_PER_RUN === 0) await wakeAgent(call);
  });
  await Promise.all(lives);
}

async function sendLife(call: Call, jobId: string): Promise<void> {
  const path = `/api/jobs/${jobId}`;
  const put = async (path: string, body: object) => {
    const { status, text } = await call(path, "PUT", body);
    expect(status, text).to.be.oneOf([200, 201]);
  };
  await put(path, { name: jobId, input: { source: "x".repeat(2_000) }, metadata: { tenant: "acme" } });
  for (let step = 0; step < STEPS; step++) {
    const range = { jobProgressStart: (step * 100) / STEPS, jobProgressEnd: ((step + 1) * 100) / STEPS };
    const report = (more: object) =>
      put(`${path}/steps/step-${step}`, { stepName: `Step ${step}`, ...range, message: "m".repeat(200), ...more });
    await report({ progress: 10 });
    await report({ progress: 60 });
    await report({ status: "completed", progress: 100, output: { rows: 240, text: "y".repeat(5_000) } });
  }
  expect(JSON.parse((await call(path)).text)).to.include({ status: "completed", progress: 100 });
}

async function wakeAgent(call: Call): Promise<void> {
  const body = { message: "m".repeat(2_000), deliver: false, trackAsJob: true, wakeMode: "next-heartbeat" };
  const { status, text } = await call("/hooks/agent", "POST", body);
  expect(status, text).to.equal(202);
  const read = async () => JSON.parse((await call(`/api/runs/${JSON.parse(text).runId}`)).text);
  await eventually(async () => (await read()).status === "completed", "the run to be completed");
}
