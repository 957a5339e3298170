import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { mailRunId } from "../../src/gmail/listener/acceptMail.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { type ModelServer, startModelServer } from "../support/servers/modelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const API = { Authorization: "Bearer an-api-token-of-length" };
const HOOK = { Authorization: "Bearer a-hook-token-of-length" };
/** Two senders, each with the token of one mapping, whose requests name the session. */
const ALICE = { Authorization: "Bearer the-token-of-alice-alone" };
const MALLORY = { Authorization: "Bearer the-token-of-mallory-alone" };

interface Run {
  sessionKey: string | null;
  status: string;
  error: { code: string; message: string } | null;
}

describe("the isolation of senders", () => {
  let app: TestApp;
  let worker: TestWorker;
  let model: ModelServer;
  before(async () => {
    model = await startModelServer();
    const sender = (name: string) =>
      `{ match: { path: "${name}" }, sessionKey: "{{k}}", messageTemplate: "{{text}}", deliver: false,
         wakeMode: "next-heartbeat", auth: { type: "token", token: "the-token-of-${name}-alone" } }`;
    app = await startApp({
      config: `{
        server: { apiToken: "an-api-token-of-length" },
        hooks: {
          enabled: true, token: "a-hook-token-of-length", presets: ["gmail"], defaultSessionKey: "hook:inbox",
          mappings: [${sender("alice")}, ${sender("mallory")}],
        },
        agents: {
          defaults: { runner: "openai", model: "small", heartbeat: { every: "1d" } },
          runners: { openai: { baseUrl: "${model.url}" } },
        },
        channels: { log: {} },
      }`,
    });
    worker = await startWorker(app);
  });
  after(async () => {
    await worker.close();
    await app.close();
    await model.close();
  });

  const ended = (runId: string) =>
    eventually(async () => {
      const run = (await app.call("GET", `/api/runs/${runId}`, undefined, API)).body as Run;
      return ["completed", "failed"].includes(run.status) && run;
    }, "the run's end");
  const call = async (name: string, who: Record<string, string>, body: object) => {
    const answer = await app.call("POST", `/hooks/${name}`, body, who);
    expect(answer.status).to.equal(202);
    return ended(answer.body.runId);
  };
  const agent = (sessionKey: string) =>
    app.call("POST", "/hooks/agent", { message: "Repeat what you were told.", sessionKey, deliver: false }, HOOK);

  it("lets the hook token list no runs, and read one by its id without its session key", async () => {
    const { body } = await app.call("POST", "/hooks/agent", { message: "x", deliver: false }, HOOK);

    const list = await app.call("GET", "/api/runs", undefined, HOOK);
    const listed = await app.call("GET", "/api/runs?limit=1", undefined, HOOK);
    const one = await app.call("GET", `/api/runs/${body.runId}`, undefined, HOOK);

    expect([list.status, listed.status, one.status]).to.deep.equal([401, 401, 200]);
    expect(one.body).to.include({ runId: body.runId, sessionKey: null });
  });

  const made = `hook:${randomUUID()}`;
  for (const key of [made, made.toUpperCase().replace("HOOK", "hook"), "hook:gmail:18f0a", "hook:gmail:", "main"]) {
    it(`refuses a session key in the format of the service's own: ${key.slice(0, 16)}`, async () => {
      const requested = await agent(key);
      const mapped = await call("mallory", MALLORY, { k: key, text: "x" });

      expect(requested.status).to.equal(400);
      expect(requested.body.detail ?? requested.body.errors?.[0]?.message).to.match(/must not be/);
      expect(mapped.error?.code).to.equal("mapping_failed");
      expect(mapped.error?.message).to.match(/^sessionKey must not be/);
    });
  }

  it("refuses the session key of one mapping to the agent hook and another mapping, not to its own", async () => {
    await call("alice", ALICE, { k: "hook:alice", text: "My bank PIN is 4711." });

    const requested = await agent("hook:alice");
    const mapped = await call("mallory", MALLORY, { k: "hook:alice", text: "Repeat it." });
    const own = await call("alice", ALICE, { k: "hook:alice", text: "What is my PIN?" });

    expect(requested.status).to.equal(400);
    expect(mapped.error?.code).to.equal("mapping_failed");
    expect(own).to.include({ status: "completed", sessionKey: "hook:alice" });
    const prompts = model.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(prompts.filter((text) => text.includes("4711"))).to.have.length(2);
    expect(prompts.some((text) => text.includes("Repeat it."))).to.equal(false);
  });

  it("refuses the session key of the agent hook to a mapping", async () => {
    const { status, body } = await agent("hook:shared-words");
    await ended(body.runId);

    const mapped = await call("mallory", MALLORY, { k: "hook:shared-words", text: "x" });

    expect([status, mapped.error?.code]).to.deep.equal([202, "mapping_failed"]);
  });

  it("refuses the default session to a mapping whose template names it, before and after its first run", async () => {
    const before = await call("mallory", MALLORY, { k: "hook:inbox", text: "x" });
    const { body } = await app.call("POST", "/hooks/agent", { message: "mine", deliver: false }, HOOK);
    await ended(body.runId);
    const after = await call("mallory", MALLORY, { k: "hook:inbox", text: "x" });
    const named = await agent("hook:inbox");

    expect([before.error?.code, after.error?.code]).to.deep.equal(["mapping_failed", "mapping_failed"]);
    expect(named.status).to.equal(202);
  });

  it("lets a run that names another sender's session wait in a session of its own, so that it blocks no other run", async () => {
    await call("alice", ALICE, { k: "hook:alice-waits", text: "x" });

    const { body } = await app.call("POST", "/hooks/mallory", { k: "hook:alice-waits", text: "x" }, MALLORY);
    const { sessionKey } = await app.stores.runs.find(body.runId);

    expect(sessionKey).to.match(/^hook:[0-9a-f-]{36}$/);
  });

  it("gives a session without an owner the context of its oldest run as owner", async () => {
    const now = new Date();
    const sessionOf = (_id: string) => ({ _id, active: null, lastUsedAt: now });
    await app.stores.sessions.collection.native.insertMany(["old:mapped", "old:agent", "old:mail"].map(sessionOf));
    const run = { name: null, singleUse: false, request: null } as const;
    const mapped = { mapping: "alice", call: null, wakeMode: "now" } as const;
    await app.stores.runs.accept([
      { ...run, _id: randomUUID(), kind: "agent", sessionKey: "old:mapped", mapped },
      { ...run, _id: randomUUID(), kind: "agent", sessionKey: "old:agent", mapped: null },
      { ...run, _id: mailRunId("a@b.example", "1"), kind: "agent", sessionKey: "old:mail", mapped },
    ]);
    const past = { $set: { stage: "turn" as const, open: false, status: "completed" as const, finalized: true } };
    await app.stores.runs.collection.native.updateMany({ sessionKey: /^old:/ }, past);

    const statuses: number[] = [];
    for (const key of ["old:agent", "old:mail", "old:mapped"]) statuses.push((await agent(key)).status);

    const owners = await app.stores.sessions.collection.native.find({ _id: /^old:/ }).sort({ _id: 1 }).toArray();
    expect(statuses).to.deep.equal([202, 400, 400]);
    expect(owners.map(({ owner }) => owner)).to.deep.equal(["agent", "gmail", "mapping alice"]);
  });

  it("refuses a timeout above hooks.maxTimeoutSeconds", async () => {
    const asked = await app.call("POST", "/hooks/agent", { message: "x", timeoutSeconds: 3_601, deliver: false }, HOOK);
    const most = await app.call("POST", "/hooks/agent", { message: "x", timeoutSeconds: 3_600, deliver: false }, HOOK);

    expect([asked.status, most.status]).to.deep.equal([400, 202]);
    expect(asked.body.detail).to.equal("timeoutSeconds must be at most 3600.");
  });
});
