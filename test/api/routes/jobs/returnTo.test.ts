import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { JobTokens } from "../../../../src/models/jobs/tokens/jobTokens.ts";
import type { NewRun } from "../../../../src/models/runs/acceptance.ts";
import { reportingEnv } from "../../../../src/workers/runs/reportingEnv.ts";
import { bearer } from "../../../support/app.ts";
import { agentRequest } from "../../../support/factories.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const API = "an-api-token-of-length";
const TOKENS = {
  creator: "a-creator-token-of-length",
  creatorOfRuns: "a-creator-of-runs-of-length",
  writer: "a-writer-token-of-length",
  hook: "a-hook-token-of-length",
};

describe("returnTo of PUT /api/jobs/:jobId", () => {
  const app = useSharedApp({
    config: JSON.stringify({
      server: {
        apiToken: API,
        tokens: [
          { name: "creator", token: TOKENS.creator, scopes: ["jobs:create"] },
          { name: "creator-of-runs", token: TOKENS.creatorOfRuns, scopes: ["jobs:create", "runs:write"] },
          { name: "writer", token: TOKENS.writer, scopes: ["jobs:write", "runs:write", "jobs:read"] },
        ],
      },
      hooks: { enabled: true, token: TOKENS.hook },
      agents: { returns: { maxDepth: 2 } },
    }),
  });
  let sessionKey: string;
  let runId: string;
  let runToken: string;
  before(async () => {
    ({ runId, sessionKey } = await run());
    runToken = await tokenOf(runId, sessionKey);
  });

  /** Inserts a run that is shown as a job, as a worker leaves it when its turn begins. */
  async function run(more: Partial<NewRun> = {}): Promise<{ runId: string; sessionKey: string }> {
    const _id = randomUUID();
    const session = `s-${_id}`;
    const request = { ...agentRequest, trackAsJob: true };
    const common = { name: "Run", singleUse: false, kind: "agent" as const, mapped: null };
    await app.stores.runs.accept([{ _id, sessionKey: session, request, ...common, ...more }]);
    await app.stores.jobs.put(_id, {});
    return { runId: _id, sessionKey: session };
  }

  async function tokenOf(_id: string, session: string): Promise<string> {
    const jobTokens = new JobTokens(app.stores, app.clock, app.config.server);
    const tracked = { _id, sessionKey: session, request: { ...agentRequest, trackAsJob: true } };
    return (await reportingEnv(tracked, jobTokens, app.url)).SIGNALBOX_TOKEN as string;
  }

  const put = (jobId: string, body: object, token: string) =>
    app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, body, { Authorization: `Bearer ${token}` });
  const named = ({ body }: { body: { errors?: { pointer: string }[] } }) => body.errors?.[0]?.pointer.split("/")[1];

  it("is stored with its defaults, shown, and removed by null", async () => {
    const created = await put("a", { returnTo: sessionKey }, API);
    const unchanged = await put("a", { name: "A" }, API);
    const whole = { sessionKey, on: ["stale", "gate"], deliver: true, channel: "slack", to: "C1" };
    const changed = await put("a", { returnTo: whole }, API);
    const sentBack = await put("a", changed.body, API);
    const removed = await put("a", { returnTo: null }, API);

    const defaults = { sessionKey, on: ["completed", "failed"], deliver: false, channel: "last", to: null };
    expect([created.status, created.body.returnTo, created.body.returns]).to.deep.equal([201, defaults, []]);
    expect(unchanged.body.returnTo).to.deep.equal(defaults);
    expect(changed.body.returnTo).to.deep.equal(whole);
    expect(sentBack.body.returnTo).to.deep.equal(whole);
    expect(removed.body.returnTo).to.equal(null);
  });

  for (const token of ["creatorOfRuns", "writer"] as const) {
    it(`may be set by a token with the scopes of ${token}`, async () => {
      expect((await put(`by-${token}`, { returnTo: sessionKey }, TOKENS[token])).status).to.equal(201);
    });
  }

  it("is refused with 403 for a token without runs:write, which may remove it", async () => {
    const refused = await put("b", { returnTo: sessionKey }, TOKENS.creator);

    expect([refused.status, refused.body.code]).to.deep.equal([403, "forbidden"]);
    expect(refused.body.detail).to.include("runs:write");
    expect((await put("b", { returnTo: null }, TOKENS.creator)).status).to.equal(201);
  });

  it("is refused for the hook token and for a job token", async () => {
    const { body } = await app.call("POST", "/api/jobs/a/token", { scope: "report", ttlSeconds: 60 }, bearer(API));

    expect((await put("a", { returnTo: sessionKey }, TOKENS.hook)).status).to.equal(401);
    expect((await put("a", { returnTo: sessionKey }, body.token)).status).to.equal(403);
  });

  for (const [title, returnTo, detail] of [
    ["the main session", "main", "returnTo must not be main: a rule of notify with wake wakes the main session."],
    [
      "a session that does not exist",
      "nobody",
      "returnTo must name a session that exists: GET /api/sessions lists them.",
    ],
    ["self without the token of a run", "self", "returnTo must name a session: self is for the token of a run."],
    ["an empty key", "", "returnTo must not be empty."],
    ["a number", 7, "returnTo must be a string or an object or null."],
    ["an unknown field", { sessionKey: "main", when: "now" }, "returnTo/when is not known."],
    ["a missing key", { on: ["failed"] }, "returnTo/sessionKey is required."],
    [
      "an unknown transition",
      { sessionKey: "main", on: ["started"] },
      "returnTo/on/0 must be one of completed, failed, stale, gate.",
    ],
    [
      "a transition that is named twice",
      { sessionKey: "main", on: ["failed", "failed"] },
      "returnTo/on must not have the same item twice.",
    ],
    ["no transition", { sessionKey: "main", on: [] }, "returnTo/on must not be empty."],
    ["a recipient of another type", { sessionKey: "main", to: 5 }, "returnTo/to must be a string or null."],
    ["an unknown channel", { sessionKey: "main", channel: "fax" }, /^returnTo\/channel must be one of /],
  ] as const) {
    it(`is refused with 400 that names it for ${title}`, async () => {
      const answer = await put("c", { returnTo }, API);

      expect([answer.status, answer.body.code, named(answer)]).to.deep.equal([400, "invalid_body", "returnTo"]);
      if (typeof detail === "string") expect(answer.body.detail).to.equal(detail);
      else expect(answer.body.detail).to.match(detail);
      expect((await app.call("GET", "/api/jobs/c", undefined, bearer(API))).status).to.equal(404);
    });
  }

  it("is refused with 400 for a recipient to whom its channel can never send", async () => {
    const answer = await put("c", { returnTo: { sessionKey, deliver: true, channel: "telegram", to: "Ada L." } }, API);

    expect([answer.status, answer.body.errors[0].pointer]).to.deep.equal([400, "/returnTo/to"]);
    expect(answer.body.detail).to.equal("returnTo/to must be a chat id, @channel or chat:topic.");
  });

  it("is refused on the job that shows a run for the session of that run", async () => {
    const refused = await put(runId, { returnTo: sessionKey }, API);

    expect([refused.status, named(refused)]).to.deep.equal([400, "returnTo"]);
    expect((await put(runId, { returnTo: "self" }, runToken)).status).to.equal(403);
  });

  it("is self for the token of a run, on jobs whose ids begin with that of its job", async () => {
    const created = await put(`${runId}/build`, { returnTo: { sessionKey: "self", on: ["failed"] } }, runToken);
    const { sessionKey: other } = await run();
    const foreign = await put(`${runId}/build`, { returnTo: other }, runToken);
    const outside = await put(`${runId}-2`, { returnTo: "self" }, runToken);

    expect(created.body.returnTo)
      .to.include({ sessionKey })
      .and.to.deep.include({ on: ["failed"] });
    expect([foreign.status, foreign.body.code]).to.deep.equal([403, "forbidden"]);
    expect([outside.status, outside.body.detail]).to.deep.equal([
      403,
      `This token can only report steps of its own job, and create and report jobs whose ids begin with ${runId}/.`,
    ]);
  });

  it("comes with a token that reports, reads and lists only these jobs, and changes no other", async () => {
    const child = `${runId}/steps`;
    await put(child, {}, runToken);
    const path = `/api/jobs/${encodeURIComponent(child)}`;
    const step = { stepName: "S" };
    const calls = [
      ["PUT", `${path}/steps/s`, step, 201],
      ["PUT", `/api/jobs/${runId}/steps/s`, step, 201],
      ["PUT", `${path}/gates/ask`, { title: "Ok?" }, 201],
      ["POST", `/api/ping/${encodeURIComponent(`${runId}/pinged`)}`, undefined, 200],
      ["GET", path, undefined, 200],
      ["PUT", `/api/jobs/${runId}`, { name: "Mine" }, 403],
      ["POST", `${path}/cancel`, {}, 403],
      ["DELETE", path, undefined, 403],
      ["POST", `${path}/token`, { scope: "read", ttlSeconds: 60 }, 403],
      ["GET", "/api/jobs/a", undefined, 404],
      ["PUT", "/api/jobs/a/steps/s", step, 403],
      ["GET", "/api/runs", undefined, 403],
    ] as const;
    for (const [method, url, body, status] of calls)
      expect((await app.call(method, url, body, bearer(runToken))).status, `${method} ${url}`).to.equal(status);

    const { body } = await app.call("GET", "/api/jobs", undefined, bearer(runToken));
    const ids = body.jobs.map(({ jobId }: { jobId: string }) => jobId);
    expect(ids)
      .to.include.members([runId, child, `${runId}/pinged`])
      .and.to.not.include("a");
    await app.call("DELETE", `/api/jobs/${runId}`, undefined, bearer(API));
    expect((await put(`${runId}/late`, {}, runToken)).status).to.equal(401);
  });

  it("is refused with 409 after the maximum number of returns in a row", async () => {
    const returned = (chain: number) => ({ kind: "return" as const, returnOf: [], chain });
    const last = await run(returned(1));
    const over = await run(returned(2));

    const allowed = await put(`${last.runId}/x`, { returnTo: "self" }, await tokenOf(last.runId, last.sessionKey));
    const token = await tokenOf(over.runId, over.sessionKey);
    const refused = await put(`${over.runId}/x`, { returnTo: "self" }, token);

    expect(allowed.status).to.equal(201);
    expect([refused.status, refused.body.code]).to.deep.equal([409, "return_limit"]);
    expect(refused.body.detail).to.include("agents.returns.maxDepth");
    expect((await put(`${over.runId}/x`, { returnTo: null }, token)).status).to.equal(201);
  });
});
