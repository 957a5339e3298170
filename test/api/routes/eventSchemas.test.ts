import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "chai";
import { startApp } from "../../support/app.ts";
import { openEvents } from "../../support/eventSource.ts";

describe("the events of streams", () => {
  it("match the schema that openapi.json has for their kind", async () => {
    const app = await startApp({ config: `{ hooks: { enabled: true, token: "a-hook-token-of-length" } }` });
    const { body: document } = await app.call("GET", "/openapi.json");
    const ajv = (addFormats as unknown as typeof addFormats.default)(new Ajv2020({ strict: false }));
    ajv.addSchema(document, "api");
    const matches = ajv.compile({
      anyOf: ["LiveEvent", "LiveJobEvent"].map((name) => ({ $ref: `api#/components/schemas/${name}` })),
    });
    const all = await openEvents(`${app.url}/api/events`);
    await app.call("PUT", "/api/jobs/a", { name: "Import", metadata: { team: "x" } });
    const job = await openEvents(`${app.url}/api/jobs/a/events`);
    const resumed = await openEvents(`${app.url}/api/events?lastEventId=nonsense`);

    await app.call("PUT", "/api/jobs/a/steps/load", { stepName: "Load", progress: 10 });
    await job.next("step");
    await app.call("POST", "/hooks/agent", { message: "x" }, { Authorization: "Bearer a-hook-token-of-length" });
    await all.next("run");
    await resumed.next("reload");
    await app.call("DELETE", "/api/jobs/a");
    await Promise.all([all.next("job_removed"), job.next("job_removed")]);

    const events = [...all.events, ...job.events, ...resumed.events];
    for (const one of events)
      expect(matches(one), `${JSON.stringify(one)}: ${ajv.errorsText(matches.errors)}`).to.equal(true);
    expect(new Set(events.map(({ event }) => event))).to.include.all.keys("state", "job", "step", "run", "reload");
    for (const one of [all, job, resumed]) one.close();
    await app.close();
  });
});
