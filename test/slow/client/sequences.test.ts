import { randomUUID } from "node:crypto";
import { setInterval as every, setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { prepareDatabase } from "../../../src/cli/commands/service/release.ts";
import { createClient } from "../../../src/client/client.ts";
import { counting, newStep, read } from "../../client/counting.ts";
import { RestartingApp } from "../../client/restarting.ts";
import { anySequence, perform, stateAfter } from "../../client/sequence.ts";
import { useShortBackoff } from "../../client/shortBackoff.ts";
import { eventually } from "../../support/eventually.ts";
import { startProcess } from "../../support/process.ts";
import { cases, runs } from "../../support/random.ts";
import { freePort, mongoUri, redisUrl } from "../../support/servers/servers.ts";
import { useSharedApp } from "../../support/useApp.ts";

/** Interval of the work's reports: far shorter than that of the requests, but it leaves the core idle. */
const REPORT_EVERY_MS = 1;

describe("signalbox/client with any sequence of reports", function () {
  this.timeout(180_000);
  useShortBackoff();

  const app = useSharedApp();

  it("leaves the last state when responses arrive in between", async () => {
    await fc.assert(
      fc.asyncProperty(anySequence(100), async (calls) => {
        const client = createClient({ url: app.url });
        const step = await newStep(client);

        await perform(step, calls, () => turn());
        await step.flush();

        const expected = stateAfter(calls);
        const { steps } = await read(client, step);
        if (expected) expect(steps?.[0]).to.deep.include(expected);
      }),
      runs(50),
    );
  });

  it("leaves the last state when the service is restarted in the middle", async () => {
    const service = await RestartingApp.start();
    let lost = 0;
    try {
      await fc.assert(
        fc.asyncProperty(anySequence(40), fc.nat(39), async (calls, at) => {
          const { client, count } = counting(service.url);
          const step = await newStep(client);
          let restarted = Promise.resolve();
          let done = 0;

          await perform(step, calls, async () => {
            if (done++ === at % calls.length) restarted = service.restart();
            await turn();
          });
          await step.flush();
          await restarted;

          lost += count.lost;
          const expected = stateAfter(calls);
          const { steps } = await read(client, step);
          if (expected) expect(steps?.[0]).to.deep.include(expected);
        }),
        { numRuns: Math.max(20, cases(20)) }, // Few restarts might lose no request.
      );
    } finally {
      await service.close();
    }
    expect(lost).to.be.greaterThan(0);
  });

  it("leaves the last state when the service's process is killed several times", async () => {
    const port = String(await freePort());
    const mongo = await mongoUri(`test-${randomUUID()}`);
    await prepareDatabase(mongo);
    const env = { MONGODB_URI: mongo, REDIS_URL: await redisUrl(), PORT: port, LOG_LEVEL: "warn" };
    const startService = () => startProcess("test/support/processes/web.ts", env);
    let service = startService();
    const { url } = await service.ready;
    const { client, count } = counting(url);
    const job = client.job(randomUUID());
    await job.create();
    const keys = ["a", "b", "c", "d"];
    let isWorking = true;

    const working = keys.map(async (key, at) => {
      const step = job.step(key, { name: key, from: at * 25, to: at * 25 + 25 });
      let progress = 0;
      for await (const _ of every(REPORT_EVERY_MS)) {
        if (!isWorking) break;
        step.progress(progress % 90, `${progress} things`);
        progress++;
      }
      await step.complete({ message: `${progress} things in all`, output: { progress } });
      return progress;
    });
    for (let kills = 0; kills < 3; kills++) {
      const { lost } = count;
      await service.stop("SIGKILL");
      await eventually(() => count.lost > lost, "a request without a response");
      service = startService();
      await service.ready;
    }
    isWorking = false;
    const worked = await Promise.all(working);

    const { status, progress, steps } = await client.jobs.get(job.jobId, { include: "steps" });
    await service.stop();
    expect({ status, progress }).to.deep.equal({ status: "completed", progress: 100 });
    expect(steps?.map(({ stepKey, output, attempts }) => ({ stepKey, output, attempts }))).to.have.deep.members(
      worked.map((progress, at) => ({ stepKey: keys[at], output: { progress }, attempts: 1 })),
    );
    expect(count.sent).to.be.below(worked.reduce((sum, reports) => sum + reports, 0) / 10);
  });
});
