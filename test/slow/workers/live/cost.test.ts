import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { changesKey } from "../../../../src/shared/queue/changeStream.ts";
import { readerConnection } from "../../../../src/shared/queue/redis.ts";
import { TIMINGS } from "../../../../src/shared/timings.ts";
import { eventually } from "../../../support/eventually.ts";
import { LiveFixture } from "../../../support/liveFixture.ts";
import { logLines } from "../../../support/logLines.ts";

const JOBS = 1_000;
const SECONDS = 20;

/** Measures, and asserts no time: the share of a core is printed. */
describe("1,000 running jobs that one rule follows", () => {
  it("are followed within the limits of the service", async () => {
    const followed = await measure({});
    const chosen = await measure({ where: { jobId: "none/" } });

    const share = (seconds: number) => `${((100 * seconds) / SECONDS).toFixed(1)} % of a core`;
    console.log(`        followed: ${share(followed.cpuSeconds)}, chosen by no rule: ${share(chosen.cpuSeconds)}`);
    expect(followed.messages).to.be.above(0);
    expect(chosen.messages).to.equal(0);
  });
});

/** Lets each job change once a second, and returns what this process used meanwhile: the worker, the service and the changes. */
async function measure(rule: object): Promise<{ cpuSeconds: number; messages: number }> {
  const fixture = await LiveFixture.start("telegram", { rule, timings: TIMINGS });
  const { app } = fixture;
  const ids = Array.from({ length: JOBS }, (_, n) => `many/${n}`);
  for (let i = 0; i < JOBS; i += 50) {
    await Promise.all(
      ids.slice(i, i + 50).map((id) => app.call("PUT", `/api/jobs/${encodeURIComponent(id)}`, { name: id })),
    );
  }
  const redis = readerConnection({ url: app.redisUrl }, logLines().log);
  await eventually(() => redis.status === "ready", "Redis");
  await pause(TIMINGS.live.afterMs); // the measurement is of jobs that have messages
  const { jobs } = app.database.collections;
  const before = process.cpuUsage();
  for (let second = 1; second <= SECONDS; second++) {
    const began = performance.now();
    await jobs.updateMany({}, { $set: { progress: second, updatedAt: app.clock.now() } });
    for (let i = 0; i < JOBS; i += 200) {
      const changes = ids.slice(i, i + 200).map((jobId) => ({ kind: "step", jobId, stepKey: "load" }));
      await redis.xadd(changesKey(app.prefix), "*", "c", JSON.stringify(changes));
    }
    await pause(Math.max(0, 1_000 - (performance.now() - began)));
  }
  const { user, system } = process.cpuUsage(before);
  const messages = fixture.messages.length;
  redis.disconnect();
  await fixture.close();
  return { cpuSeconds: (user + system) / 1e6, messages };
}
