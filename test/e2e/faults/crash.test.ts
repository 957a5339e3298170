import { expect } from "chai";
import { createJob, whole } from "../../support/factories.ts";
import { startProcess } from "../../support/process.ts";
import { useSharedApp } from "../../support/useApp.ts";

describe("a web process that is killed", () => {
  const app = useSharedApp();
  let env: Record<string, string>;
  before(() => {
    env = { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl, LOG_LEVEL: "warn" };
  });

  it("under load has stored every report that it answered, and the others can be sent again", async () => {
    const service = startProcess("src/api/main.ts", env);
    const { url } = await service.ready;
    const { path } = await createJob(app);
    const reports = Array.from({ length: 400 }, (_, i) => ({
      key: `s${i}`,
      body: { stepName: "S", ...whole(i / 5), message: `m${i}` },
    }));
    const acknowledged = new Set<string>();
    const send = async (to: string, { key, body }: (typeof reports)[number]) => {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(`${to}${path}/steps/${key}`, { method: "PUT", headers, body: JSON.stringify(body) });
      if (response.ok) acknowledged.add(key);
    };

    const waiting = [...reports];
    const client = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        await send(url, next);
        if (acknowledged.size > 50) service.child.kill("SIGKILL");
      }
    };
    await Promise.allSettled(Array.from({ length: 20 }, client));
    await service.ended;
    const answered = new Set(acknowledged);
    const kept = (await app.call("GET", `${path}?include=steps`)).body;
    await Promise.all(reports.map((one) => send(app.url, one)));

    const { body } = await app.call("GET", `${path}?include=steps`);
    const keysOf = (job: { steps: { stepKey: string }[] }) => job.steps.map(({ stepKey }) => stepKey);
    const highest = Math.max(...[...answered].map((key) => Number(key.slice(1)) / 5));
    expect(answered.size).to.be.lessThan(reports.length);
    expect(keysOf(kept)).to.include.members([...answered]);
    expect(kept.progress).to.be.at.least(highest);
    expect(keysOf(body)).to.have.members(reports.map(({ key }) => key));
    expect(body.progress).to.equal(79.8);
    expect(body.steps.every(({ attempts }: { attempts: number }) => attempts === 1)).to.equal(true);
  });
});
