import { randomUUID } from "node:crypto";
import type { StepDoc } from "../../src/models/jobs/step.ts";
import type { TestApp } from "../support/app.ts";
import { report } from "../support/factories.ts";

/**
 * Gives a job steps named `Step 0` to `Step N`, a second apart, as copies of one that the API created.
 * @param length their number
 * @param change the fields in which the step of a number differs; completed without any
 */
export async function manySteps(
  app: TestApp,
  { jobId, path }: { readonly jobId: string; readonly path: string },
  length: number,
  change: (at: number) => Partial<StepDoc> = () => ({}),
): Promise<void> {
  await report(app, path, "like", {});
  const { collection } = app.stores.jobs;
  const { like } = (await collection.findOne({ jobId }))?.steps ?? {};
  if (!like) throw new Error("the API created no step");
  const begin = Date.now() - length * 1_000;
  const stepCounts = { running: 0, completed: 0, failed: 0 };
  const steps = Array.from({ length }, (_, at) => {
    const [from, to] = [begin + at * 1_000, begin + (at + 6) * 1_000].map((time) => new Date(time));
    const same = { ...like, stepId: randomUUID(), stepKey: `key-${at}`, stepName: `Step ${at}` };
    const times = { createdAt: from, startedAt: from, updatedAt: to, endedAt: to } as Partial<StepDoc>;
    const step = { ...same, ...times, status: "completed", progress: 100, ...change(at) } as StepDoc;
    stepCounts[step.status]++;
    return [`key-${at}`, step];
  });
  const counts = Object.fromEntries(Object.entries(stepCounts).map(([name, n]) => [`stepCounts.${name}`, n]));
  await collection.updateOne(
    { jobId },
    { $set: { steps: Object.fromEntries(steps), createdAt: new Date(begin), ...counts } },
  );
}
