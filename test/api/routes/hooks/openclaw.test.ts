import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { useSharedApp } from "../../../support/useApp.ts";
import { startWorker, type TestWorker } from "../../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const openClaw = { "x-openclaw-token": TOKEN };
const bearer = { Authorization: `Bearer ${TOKEN}` };
const configOf = (compat: string) => `{
  hooks: { enabled: true, token: "${TOKEN}", ${compat} defaultSessionKey: "hook:all",
    mappings: [{ match: { path: "mapped" }, deliver: false }] },
  agents: { defaults: { heartbeat: { every: "off" } }, list: { reviewer: {} } },
}`;
const MESSAGE = { message: "hi", deliver: false, wakeMode: "next-heartbeat" };

describe("hooks with `compat: openclaw`", () => {
  let app: TestApp;
  let worker: TestWorker;
  before(async () => {
    app = await startApp({ config: configOf('compat: "openclaw",') });
    worker = await startWorker(app);
  });
  after(async () => {
    await worker.close();
    await app.close();
  });
  const send = (body: object, hook = "agent", headers: Record<string, string> = openClaw) =>
    app.call("POST", `/hooks/${hook}`, body, headers);

  it("take the token in `x-openclaw-token` and answer 200", async () => {
    const agent = await send({ ...MESSAGE, agentId: "reviewer" });
    const mapped = await send({ a: 1 }, "mapped");
    const wrong = await send(MESSAGE, "agent", { "x-openclaw-token": "another-token-of-length" });

    expect(agent).to.deep.include({ status: 200 });
    expect(agent.body).to.include({ ok: true });
    expect(mapped.status).to.equal(200);
    expect(mapped.body.runIds).to.have.length(1);
    expect(wrong.status).to.equal(401);
    expect((await app.call("GET", `/api/runs/${agent.body.runId}`)).body.agentId).to.equal("reviewer");
  });

  it("start one run for requests with the same `idempotencyKey`, in the body or a header of OpenClaw", async () => {
    const key = randomUUID();
    const body = { ...MESSAGE, idempotencyKey: key };
    const byHeader = { ...openClaw, "x-openclaw-idempotency-key": randomUUID() };

    const [first, second] = [await send(body), await send(body)];
    const [third, fourth] = [await send(MESSAGE, "agent", byHeader), await send(MESSAGE, "agent", byHeader)];

    expect(second.body).to.deep.equal(first.body);
    expect(fourth.body).to.deep.equal(third.body);
    expect(third.body.runId).to.not.equal(first.body.runId);
  });

  it("add one event for wake requests with the same `idempotencyKey`", async () => {
    const body = { text: "Look", mode: "next-heartbeat", idempotencyKey: randomUUID() };

    const [first, second] = [await send(body, "wake"), await send(body, "wake")];

    expect(second.body).to.deep.equal(first.body);
  });

  it("give each run a session of its own, unless `sessionMode` is persistent", async () => {
    const sessionKey = `s-${randomUUID()}`;
    const isolated = await Promise.all([send({ ...MESSAGE, sessionKey }), send(MESSAGE)]);
    const persistent = await send({ ...MESSAGE, sessionKey, sessionMode: "persistent" });
    const standard = await send({ ...MESSAGE, sessionMode: "persistent" });

    expect(isolated.map(({ body }) => body.sessionKey)).to.not.include.members([sessionKey]);
    expect(isolated.map(({ body }) => body.sessionKey)).to.not.include("hook:all");
    expect(persistent.body.sessionKey).to.equal(sessionKey);
    expect(standard.body.sessionKey).to.equal("hook:all");
  });

  it("wait for the end of the run with `waitForCompletion`", async () => {
    const { status, body } = await send({ ...MESSAGE, waitForCompletion: true });

    expect(status).to.equal(200);
    expect(body.completion).to.deep.equal({ status: "ok" });
    expect(body.run.reply).to.include("The echo runner received");
  });

  it("refuse a wake for another session or agent than the main one", async () => {
    const answer = await send({ text: "Look", agentId: "reviewer" }, "wake");

    expect(answer.status).to.equal(400);
    expect(answer.body.errors[0].pointer).to.equal("/agentId");
  });
});

describe("hooks without `compat`", () => {
  const app = useSharedApp({ config: configOf("") });

  it("name the fields of OpenClaw in a 400 in place of passing them over", async () => {
    const body = { ...MESSAGE, idempotencyKey: "k", sessionMode: "isolated", waitForCompletion: true };

    const answer = await app.call("POST", "/hooks/agent", body, bearer);

    expect(answer.status).to.equal(400);
    const pointers = answer.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.deep.equal(["/idempotencyKey", "/sessionMode", "/waitForCompletion"]);
    expect(answer.body.detail).to.include("send the header Idempotency-Key, or set hooks.compat to openclaw");
    const wake = await app.call("POST", "/hooks/wake", { text: "x", idempotencyKey: "k" }, bearer);
    expect(wake.status).to.equal(400);
  });

  it("refuse the token of OpenClaw's header and go on answering 202", async () => {
    expect((await app.call("POST", "/hooks/agent", MESSAGE, openClaw)).status).to.equal(401);
    expect((await app.call("POST", "/hooks/agent", MESSAGE, bearer)).status).to.equal(202);
  });
});
