import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { agentHook } from "../../../src/shared/queue/definitions.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };

describe("several agents", () => {
  let app: TestApp;
  let worker: TestWorker;
  before(async () => {
    app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}", mappings: [
          { match: { path: "review" }, agentId: "reviewer", sessionKey: "{{key}}", deliver: false, wakeMode: "next-heartbeat" },
          { match: { path: "any" }, sessionKey: "{{key}}", deliver: false, wakeMode: "next-heartbeat" },
        ], shareSessions: true },
        agents: {
          defaults: { runner: "command" },
          runners: { command: { command: ["sh", "-c", "echo main $ROLE $SHARED"], env: { ROLE: "plain", SHARED: "shared" } } },
          list: {
            reviewer: { env: { ROLE: "review" }, timeoutSeconds: 30 },
            writer: { command: ["sh", "-c", "cat; echo; echo writer {model}"], model: "m1", models: ["m1", "m2"], systemPrompt: "Write." },
            echo: { runner: "echo" },
          },
        },
      }`,
    });
    worker = await startWorker(app);
  });
  after(async () => {
    await worker.close();
    await app.close();
  });

  const send = (body: object) =>
    app.call("POST", "/hooks/agent", { message: "hi", deliver: false, wakeMode: "next-heartbeat", ...body }, bearer);
  const map = (path: string, key: string) => app.call("POST", `/hooks/${path}`, { key }, bearer);
  const ended = (runId: string) =>
    eventually(async () => {
      const { body } = await app.call("GET", `/api/runs/${runId}`);
      return body.endedAt !== null && body;
    }, "the run to end");
  const end = async (answer: { status: number; body: { runId: string } }) => {
    expect(answer.status).to.equal(202);
    return ended(answer.body.runId);
  };

  it("run turns with their own program, environment, model and system prompt", async () => {
    const [plain, reviewer, writer, echo] = await Promise.all(
      [{}, { agentId: "reviewer" }, { agentId: "writer" }, { agentId: "echo" }].map(async (body) =>
        end(await send(body)),
      ),
    );

    expect(plain).to.include({ agentId: null, reply: "main plain shared" });
    expect(reviewer).to.include({ agentId: "reviewer", reply: "main review shared" });
    expect(writer.reply).to.match(/Write\.[\s\S]*writer m1$/);
    expect(echo.reply).to.match(/^The echo runner received/);
  });

  it("are named in the request of a run and in the list of sessions", async () => {
    const run = await end(await send({ agentId: "reviewer" }));

    const { request } = (await app.call("GET", `/api/runs/${run.runId}/request`)).body;
    expect(request).to.include({ agentId: "reviewer", timeoutSeconds: 30 });
    const { sessions } = (await app.call("GET", "/api/sessions")).body;
    const session = sessions.find((one: { sessionKey: string }) => one.sessionKey === run.sessionKey);
    expect(session).to.include({ agentId: "reviewer" });
  });

  it("are refused by a request that names an unknown one, or a model that the agent does not have", async () => {
    const unknown = await send({ agentId: "nobody" });
    const model = await send({ agentId: "writer", model: "m3" });

    expect(unknown).to.include({ status: 400 });
    expect(unknown.body.detail).to.equal(
      "agentId names no agent: it must be one of reviewer, writer, echo (agents.list).",
    );
    expect(model.body.detail).to.include("must be one of m1, m2");
  });

  it("keep their sessions: a request without agentId continues one, and one that names another is refused", async () => {
    const sessionKey = `s-${randomUUID()}`;
    await end(await send({ sessionKey, agentId: "reviewer" }));

    const next = await end(await send({ sessionKey }));
    const other = await send({ sessionKey, agentId: "writer" });

    expect(next).to.include({ agentId: "reviewer" });
    expect(other.status).to.equal(400);
    expect(other.body.errors[0].pointer).to.equal("/agentId");
    expect(other.body.detail).to.include("which belongs to reviewer");
  });

  it("refuse an agent for a session of the agent of agents.defaults", async () => {
    const sessionKey = `s-${randomUUID()}`;
    await end(await send({ sessionKey }));

    const other = await send({ sessionKey, agentId: "writer" });

    expect(other.body.detail).to.include("the agent of agents.defaults");
  });

  it("answer a repeated request as the first one", async () => {
    const sessionKey = `s-${randomUUID()}`;
    const key = { ...bearer, "Idempotency-Key": randomUUID() };
    const body = { message: "hi", deliver: false, sessionKey, agentId: "echo" };

    const [first, second] = [
      await app.call("POST", "/hooks/agent", body, key),
      await app.call("POST", "/hooks/agent", body, key),
    ];

    expect(second).to.deep.include({ status: 202, body: first?.body });
  });

  it("let exactly one of concurrent first requests have the session", async () => {
    const sessionKey = `s-${randomUUID()}`;
    const answers = await Promise.all(
      ["reviewer", "writer", "echo", "reviewer"].map((agentId) => send({ sessionKey, agentId })),
    );

    const runs = await Promise.all(answers.filter(({ status }) => status === 202).map(({ body }) => ended(body.runId)));
    expect(new Set(runs.map(({ agentId }) => agentId)).size).to.equal(1);
    expect(answers.every(({ status }) => [202, 400, 503].includes(status))).to.equal(true);
  });

  it("are chosen by a mapping, which fails in a session of another agent", async () => {
    const key = `s-${randomUUID()}`;
    const first = await end(await map("review", key));
    const inherited = await end(await map("any", key));
    const writers = `s-${randomUUID()}`;
    await end(await send({ sessionKey: writers, agentId: "writer" }));

    const foreign = await end(await map("review", writers));

    expect(first).to.include({ agentId: "reviewer", reply: "main review shared" });
    expect(inherited).to.include({ agentId: "reviewer" });
    expect(foreign.error.code).to.equal("mapping_failed");
    expect(foreign.error.message).to.include("which belongs to writer");
  });

  it("fail the run of an agent that the configuration no longer has", async () => {
    const [_id, sessionKey] = [randomUUID(), `s-${randomUUID()}`];
    const { body } = await send({});
    const { request } = await app.stores.runs.find(body.runId);
    const gone = request && { ...request, agentId: "gone" };
    await app.stores.runs.accept([
      { _id, kind: "agent", name: null, sessionKey, singleUse: false, mapped: null, request: gone },
    ]);
    await app.queues.add(agentHook, { runId: _id }, { jobId: _id });

    const run = await ended(_id);

    expect(run).to.include({ status: "failed", attempts: 1 });
    expect(run.error.message).to.include("The agent of the run, gone, names no agent");
  });
});
