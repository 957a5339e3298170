import { addKnownJobs, CALLS, type CallFigures, compareCalls, send } from "./calls.ts";
import type { Side, Web } from "./services.ts";

export interface HeavySizes {
  readonly steps: number;
  readonly outputs: number;
  readonly times: number;
}

const OUTPUT_BYTES = 2 * 1024 * 1024;
const CONCURRENCY = 50;
/** The calls of other clients, whose jobs are small. */
const OTHERS = ["PUT step, current", "GET job", "GET jobs", "GET jobs, running", "GET /readyz"];

/**
 * Measures how a job with very many steps and recent jobs with large outputs affect other calls, compared with a
 * database without such jobs.
 */
export async function* measureHeavy(
  [{ web: light }, { web: heavy }]: readonly [Side, Side],
  { steps, outputs, times }: HeavySizes,
): AsyncGenerator<CallFigures> {
  await addManySteps(heavy, steps);
  const output = { text: "x".repeat(OUTPUT_BYTES) };
  for (let i = 0; i < outputs; i++) {
    const body = { name: `Large ${i}`, status: "completed", output };
    await send(heavy, { method: "PUT", path: `/api/jobs/large-${i}`, body });
    await send(light, { method: "PUT", path: `/api/jobs/large-${i}`, body: { ...body, output: { text: "x" } } });
  }
  for (const web of [light, heavy]) await addKnownJobs(web, times);
  const others = CALLS.filter(({ title }) => OTHERS.includes(title));
  yield* compareCalls([light, heavy], times, others);
  const own = [
    { title: "PUT step of the job with many", path: "/api/jobs/many/steps/step-1" },
    { title: "GET the job with many steps", path: "/api/jobs/many" },
    { title: "GET 50 of its steps", path: "/api/jobs/many/steps?limit=50" },
  ];
  await addManySteps(light, 50);
  const body = { stepName: "Step", progress: 5 };
  const calls = own.map(({ title, path }) => ({
    title,
    request: () => (title.startsWith("PUT") ? { method: "PUT" as const, path, body } : { path }),
  }));
  yield* compareCalls([light, heavy], times, calls);
}

async function addManySteps(web: Web, count: number): Promise<void> {
  await send(web, { method: "PUT", path: "/api/jobs/many", body: { name: "Many steps" } });
  for (let from = 0; from < count; from += CONCURRENCY) {
    await Promise.all(
      Array.from({ length: Math.min(CONCURRENCY, count - from) }, (_, i) => {
        const body = { stepName: `Step ${from + i}`, progress: 5, message: "begun" };
        return send(web, { method: "PUT", path: `/api/jobs/many/steps/step-${from + i}`, body });
      }),
    );
  }
}
