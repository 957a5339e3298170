import { expect } from "chai";
import fc from "fast-check";
import { createJob, report, whole } from "../support/factories.ts";
import { runs } from "../support/random.ts";
import { useSharedApp } from "../support/useApp.ts";

describe("concurrent reports", () => {
  const app = useSharedApp();

  it("leave the maximum as the job's progress", async () => {
    const { path } = await createJob(app);
    const values = Array.from({ length: 300 }, (_, i) => ((i * 37) % 99) + 0.5);

    await Promise.all(values.map((value, i) => report(app, path, `step-${i % 20}`, whole(value))));

    const { body } = await app.call("GET", `${path}?include=steps`);
    expect(body.progress).to.equal(Math.max(...values));
    expect(body.steps).to.have.length(20);
  });

  it("never let a reader see the progress go back", async () => {
    const { path } = await createJob(app);
    const seen: number[] = [];
    let reporting = true;
    const watching = (async () => {
      while (reporting) seen.push((await app.call("GET", path)).body.progress);
    })();

    await Promise.all(Array.from({ length: 200 }, (_, i) => report(app, path, `s${i % 5}`, whole((i * 61) % 97))));
    reporting = false;
    await watching;

    expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
  });

  it("create one step for each stepKey, and answer one of them with 201", async () => {
    const { path } = await createJob(app);

    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => report(app, path, "only", { progress: i, message: `m${i}` })),
    );

    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    expect(new Set(answers.map(({ body }) => body.stepId))).to.have.property("size", 1);
    const { body } = await app.call("GET", `${path}/steps`);
    expect(body.steps).to.have.length(1);
    expect(body.steps[0].attempts).to.equal(1);
  });

  it("never show a completed job without its output", async () => {
    const jobs = await Promise.all(Array.from({ length: 20 }, () => createJob(app)));
    let reporting = true;
    let incomplete = 0;
    const watching = (async () => {
      while (reporting) {
        const { body } = await app.call("GET", "/api/jobs?fields=status,progress,output");
        incomplete += body.jobs.filter(
          (job: { status: string; output: unknown }) => job.status === "completed" && !job.output,
        ).length;
      }
    })();

    await Promise.all(
      jobs.flatMap(({ path }) => [
        report(app, path, "a", whole(50)),
        report(app, path, "z", { status: "completed", ...whole(100), output: { done: true } }),
        report(app, path, "b", { status: "failed", ...whole(100) }),
      ]),
    );
    reporting = false;
    await watching;

    expect(incomplete).to.equal(0);
    const { body } = await app.call("GET", "/api/jobs?status=completed");
    expect(body.jobs).to.have.length(20);
  });

  it("end in the state that the rules define, for any sequence", async () => {
    const percent = fc.integer({ min: 0, max: 100 });
    const anyReport = fc.record(
      {
        stepKey: fc.constantFrom("a", "b"),
        status: fc.constantFrom("running", "completed", "failed"),
        progress: percent,
        end: percent,
        message: fc.string({ minLength: 1, maxLength: 8 }),
        output: fc.constant({ done: true }),
        failJob: fc.boolean(),
      },
      { requiredKeys: ["stepKey"] },
    );

    await fc.assert(
      fc.asyncProperty(fc.array(anyReport, { maxLength: 8 }), async (reports) => {
        const { path } = await createJob(app);
        const expected: Expected = { status: "running", progress: 0, message: null, output: null };
        const messages: Record<string, string> = {};
        for (const { stepKey, end, ...rest } of reports) {
          const range = end === undefined ? {} : { jobProgressStart: 0, jobProgressEnd: end };
          const body = { stepName: stepKey, ...range, ...rest };
          const { status } = await app.call("PUT", `${path}/steps/${stepKey}`, body);
          expect(status).to.equal(follow(expected, messages, stepKey, body) ? status : 400);
        }

        expect((await app.call("GET", path)).body).to.deep.include(expected);
      }),
      runs(60),
    );
  });
});

interface Expected {
  status: string;
  progress: number;
  message: string | null;
  output: object | null;
}

interface Sent {
  status?: string;
  progress?: number;
  jobProgressEnd?: number;
  message?: string;
  output?: object;
  failJob?: boolean;
}

/** Applies the progress rules of the contract in the simplest form. @returns false when the report is rejected */
function follow(job: Expected, messages: Record<string, string>, stepKey: string, sent: Sent): boolean {
  const calculated =
    sent.progress === undefined || sent.jobProgressEnd === undefined
      ? undefined
      : (sent.progress / 100) * sent.jobProgressEnd;
  const failed = sent.status === "failed";
  if (!failed && calculated === 100 && !sent.output) return false;
  if (sent.message) messages[stepKey] = job.message = sent.message;
  if (failed && sent.failJob) Object.assign(job, { status: "failed", message: messages[stepKey] ?? job.message });
  if (calculated === undefined || (failed && calculated === 100)) return true;
  job.progress = Math.max(job.progress, Math.round(calculated * 1e9) / 1e9);
  if (calculated === 100 && sent.output) Object.assign(job, { status: "completed", output: sent.output });
  return true;
}
