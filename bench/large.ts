import { randomUUID } from "node:crypto";
import { mongo } from "mongoose";
import { addKnownJobs, type CallFigures, compareCalls, send } from "./calls.ts";
import type { Side, Web } from "./services.ts";

export const STEPS_PER_JOB = 5;
const JOBS_AT_ONCE = 2_000;
const ENDED_SHARE = 0.9;

/**
 * Inserts jobs of five steps, most of them ended, as copies of one that the service has written, then compares each
 * call with the same call on an empty database.
 * @param calls the number of times that each call is made
 */
export async function* measureLarge(
  [empty, full]: readonly [Side, Side],
  { jobs, calls }: { jobs: number; calls: number },
): AsyncGenerator<CallFigures> {
  const times = Math.min(calls, jobs);
  await store(full, jobs);
  for (const { web } of [empty, full]) await addKnownJobs(web, times);
  yield* compareCalls([empty.web, full.web], times);
}

async function store({ web, database: { collections } }: Side, jobs: number): Promise<void> {
  const { job, steps } = await template(web, collections);
  const now = Date.now();
  for (let from = 0; from < jobs; from += JOBS_AT_ONCE) {
    const made = Array.from({ length: Math.min(JOBS_AT_ONCE, jobs - from) }, (_, i) => {
      const n = from + i;
      const isOver = n % 100 < ENDED_SHARE * 100;
      const createdAt = new Date(now - (jobs - n) * 1_000);
      const ended = isOver
        ? { status: "completed" as const, progress: 100, current: null, staleAt: null, endedAt: createdAt }
        : { staleAt: new Date(createdAt.getTime() + 900_000) };
      const over = isOver && { status: "completed" as const, progress: 100, endedAt: createdAt };
      const own = Object.entries(steps).map(([field, step]) => {
        return [field, { ...step, stepId: randomUUID(), createdAt, updatedAt: createdAt, ...over }] as const;
      });
      const ids = { _id: new mongo.ObjectId(), jobId: `import-${n}`, name: `Import ${n}`, nameKey: `import ${n}` };
      const metadataTerms = [`batch=${n % 1_000}`, "tenant=acme"];
      const times = { createdAt, updatedAt: createdAt, lastReportAt: createdAt };
      return { ...job, ...ids, metadataTerms, ...ended, ...times, steps: Object.fromEntries(own) };
    });
    await collections.jobs.insertMany(made, { ordered: false, writeConcern: { w: 1, j: false } });
  }
}

async function template(web: Web, { jobs }: Side["database"]["collections"]) {
  const path = "/api/jobs/template";
  const input = { source: "https://partner.example/exports/1.tar.gz", records: 12_500, dryRun: false };
  await send(web, { method: "PUT", path, body: { name: "Template", input, metadata: { tenant: "acme" } } });
  for (let step = 1; step <= STEPS_PER_JOB; step++) {
    const body = { stepName: `Step ${step}`, progress: 50, message: "6250 of 12500 records" };
    await send(web, { method: "PUT", path: `${path}/steps/step-${step}`, body });
  }
  const job = await jobs.findOne({ jobId: "template" });
  if (!job) throw new Error("the template job is missing");
  await send(web, { method: "DELETE", path });
  return { job, steps: job.steps ?? {} };
}
