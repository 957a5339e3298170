import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { hangs, type ModelServer, says, startModelServer } from "../../../support/servers/modelServer.ts";
import { startWorker, type TestWorker } from "../../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const QUIET = { deliver: false, wakeMode: "next-heartbeat" };

describe("POST /api/runs/:runId/again", () => {
  let app: TestApp;
  let worker: TestWorker;
  let model: ModelServer;
  before(async () => {
    model = await startModelServer();
    app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}", transformsDir: "examples/transforms", mappings: [
          { match: { path: "ci" }, sessionKey: "hook:ci", messageTemplate: "Build {{n}}", instructions: "Be brief.",
            trackAsJob: true, deliver: false, wakeMode: "next-heartbeat" },
          { match: { path: "each" }, forEach: "items", messageTemplate: "{{item.missing}}", wakeMode: "next-heartbeat" },
          { match: { path: "event" }, action: "wake", textTemplate: "An event", wakeMode: "next-heartbeat" },
          { match: { path: "alerts" }, transform: { module: "alerts.js", export: "alerts" } },
        ] },
        agents: {
          defaults: { runner: "openai", model: "small", heartbeat: { every: "1d" } },
          runners: { openai: { baseUrl: "${model.url}" } },
        },
      }`,
    });
    worker = await startWorker(app);
  });
  after(async () => {
    await worker.close();
    await app.close();
    await model.close();
  });

  const send = async (hook: string, body: object) =>
    (await app.call("POST", `/hooks/${hook}`, body, { Authorization: `Bearer ${TOKEN}` })).body;
  const again = (runId: string) => app.call("POST", `/api/runs/${runId}/again`);
  const read = async (path: string) => (await app.call("GET", path)).body;
  const ended = (runId: string) =>
    eventually(async () => {
      const run = await read(`/api/runs/${runId}`);
      return run.endedAt && run;
    }, "the run to end");

  it("starts a new run with the same request, which links to the old run, and leaves the old run as it was", async () => {
    model.script(says("First."));
    const { runId } = await send("agent", { ...QUIET, message: "Sum it up", name: "Report" });
    const old = await ended(runId);
    model.script(says("Second."));

    const { status, headers, body } = await again(runId);

    const made = await ended(body.runId);
    expect(status).to.equal(202);
    expect(headers.get("Location")).to.equal(`/api/runs/${body.runId}`);
    expect(made).to.include({ againOf: runId, name: "Report", status: "completed", reply: "Second." });
    expect(made.sessionKey)
      .to.match(/^hook:[-0-9a-f]{36}$/)
      .and.not.equal(old.sessionKey);
    expect(await read(`/api/runs/${body.runId}/request`)).to.deep.equal(await read(`/api/runs/${runId}/request`));
    expect(await read(`/api/runs/${runId}`)).to.deep.equal({ ...old, againOf: null, reply: "First." });
    const [entry] = (await read("/api/audit?action=run.again")).entries;
    expect(entry).to.include({ action: "run.again", target: runId });
  });

  it("keeps a named session and the request that the mapping made, and creates another job", async () => {
    const { runId } = await send("ci", { n: 7 });
    await ended(runId);

    const { body } = await again(runId);

    expect(await ended(body.runId)).to.include({ sessionKey: "hook:ci", status: "completed", againOf: runId });
    const { request, call } = await read(`/api/runs/${body.runId}/request`);
    expect(request).to.include({ message: "Build 7", instructions: "Be brief.", deliver: false });
    expect(call.mapping).to.equal("ci");
    expect((await read(`/api/jobs/${body.runId}`)).metadata).to.deep.equal({
      runId: body.runId,
      sessionKey: "hook:ci",
    });
  });

  it("maps a run that failed in its mapping again, with its own item of the call", async () => {
    const { runIds } = await send("each", { items: [{ id: 1 }, { id: 2 }] });
    const old = await ended(runIds[1]);

    const { body } = await again(runIds[1]);

    const made = await ended(body.runId);
    expect([old.error.code, made.error.code]).to.deep.equal(["mapping_failed", "mapping_failed"]);
    const { call } = await read(`/api/runs/${body.runId}/request`);
    expect(call.payload).to.deep.equal({ items: [{ id: 2 }] });
  });

  it("gives the run of a mail another id of the same kind, so that it may use the sessions of mails", async () => {
    const { runId } = await send("ci", { n: 8 });
    await ended(runId);
    const run = await app.stores.runs.find(runId);
    const mail = randomUUID().replace(/^(.{14})./, "$18");
    await app.stores.runs.collection.native.insertOne({ ...run, _id: mail });

    const { body } = await again(mail);

    expect(body.runId)
      .to.match(/^.{14}8/)
      .and.not.equal(mail);
    expect(await ended(body.runId)).to.include({ status: "completed", againOf: mail });
  });

  it("answers 409 for a run that has not ended, an event, and a run whose request is not stored, and 404 for an unknown one", async () => {
    model.script(hangs());
    const running = await send("agent", { ...QUIET, message: "x" });
    const event = await send("event", {});
    const dropped = await send("alerts", { alerts: [] });
    await ended(event.runId);
    expect(await ended(dropped.runId)).to.include({ status: "dropped" });
    const before = await app.stores.runs.collection.native.countDocuments();

    const answers = await Promise.all([running.runId, event.runId, dropped.runId, "nobody"].map(again));

    await app.call("POST", `/api/runs/${running.runId}/cancel`);
    expect(answers.map(({ status, body }) => [status, body.code, body.detail])).to.deep.equal([
      [409, "run_state_conflict", "The run has not ended: wait for its end, or cancel it."],
      [409, "run_state_conflict", "Only a run of the agent can run again, not an event of the main session."],
      [409, "run_state_conflict", "The request of the run is no longer stored."],
      [404, "run_not_found", 'There is no run "nobody".'],
    ]);
    expect(await app.stores.runs.collection.native.countDocuments()).to.equal(before);
  });
});
