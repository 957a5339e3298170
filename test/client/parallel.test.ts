import { expect } from "chai";
import { type Client, createClient } from "../../src/client/client.ts";
import { startApp, type TestApp } from "../support/app.ts";

describe("signalbox/client steps that run at the same time", () => {
  let app: TestApp;
  let client: Client;
  before(async () => {
    app = await startApp();
    client = createClient({ url: app.url });
  });
  after(async () => {
    await client.close();
    await app.close();
  });

  it("bring the job to the mean of their progress, and only the last one to the end", async () => {
    const job = client.job("parallel");
    await job.create();
    const [a, b] = job.parallel({ from: 0, to: 80 }, [
      { key: "a", name: "A" },
      { key: "b", name: "B" },
    ]);
    if (!a || !b) throw new Error("two steps are expected");
    const progress = async () => (await client.jobs.get("parallel")).progress;

    await a.complete();
    const afterFirst = await progress();
    await b.start(undefined, { progress: 50 });
    const half = await progress();
    await b.complete();

    expect([afterFirst, half, await progress()]).to.deep.equal([40, 60, 80]);
    const { steps = [], stepCounts } = await client.jobs.get("parallel", { include: "steps" });
    expect(steps.map((step) => step.progress)).to.deep.equal([100, 100]);
    expect(stepCounts).to.deep.equal({ running: 0, completed: 2, failed: 0 });
  });

  it("complete the job with the last one, whose output becomes that of the job", async () => {
    const job = client.job("whole");
    await job.create();
    const steps = job.parallel({ from: 0, to: 100 }, [
      { key: "a", name: "A" },
      { key: "b", name: "B" },
    ]);

    await steps[0]?.complete({ output: { part: 1 } });
    const { status } = await client.jobs.get("whole");
    await steps[1]?.complete({ output: { part: 2 } });

    expect(status).to.equal("running");
    expect(await client.jobs.get("whole")).to.deep.include({ status: "completed", output: { part: 2 } });
  });

  it("keep log lines in their order, also those just before the end", async () => {
    const job = client.job("logged");
    await job.create();
    const step = job.step("a", { name: "A", from: 0, to: 100 });
    await step.start();

    for (let i = 1; i <= 50; i++) step.log(`line ${i}`);
    step.log("two\nlines\n");
    await step.complete({ output: {} });

    const { body } = await app.call("GET", "/api/jobs/logged/steps/a/log");
    const texts = body.lines.map(({ text }: { text: string }) => text);
    expect(texts).to.deep.equal([...Array.from({ length: 50 }, (_, i) => `line ${i + 1}`), "two", "lines"]);
  });
});
