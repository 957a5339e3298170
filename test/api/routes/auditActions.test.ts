import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { answerUrl } from "../../../src/models/gates/answerLinks.ts";
import { AuditAction } from "../../../src/wire/audit.ts";
import { bearer, type TestApp } from "../../support/app.ts";
import { acceptRun } from "../../support/factories.ts";
import { useApp } from "../../support/useApp.ts";
import { startWorker } from "../../support/worker.ts";

const API = "an-api-token-of-length";
const CI = "the-token-of-the-ci-system";
const HOOK = "a-hook-token-of-length";
const CONFIG = JSON.stringify({
  server: {
    apiToken: API,
    tokens: [
      { name: "ci", token: CI, scopes: ["jobs:read", "jobs:write", "gates:answer", "runs:read", "runs:write"] },
      { name: "expired", token: "the-token-that-has-expired", scopes: ["admin"], expiresAt: "2020-01-01" },
    ],
  },
  notify: [{ id: "failed", on: ["job.failed"], to: { channel: "log", to: "ops" } }],
  channels: { log: {}, mattermost: { apiUrl: "https://chat.example", botToken: "s3cret" } },
  hooks: {
    enabled: true,
    token: HOOK,
    keepRequests: { for: "7d", maxBytes: "1GiB" },
    mappings: [{ match: { path: "ci" }, messageTemplate: "A build" }],
  },
});

/** An action and its actor; returns the id in the entry. */
interface Case {
  readonly title: string;
  readonly actor: string;
  act(app: TestApp): Promise<string | null>;
}

/** Sends a request that must succeed, and returns the body of the answer. */
async function send(app: TestApp, method: string, path: string, body?: unknown, headers = bearer(CI) as object) {
  const answer = await app.call(method, path, body, headers as Record<string, string>);
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).to.be.within(200, 303);
  return answer.body;
}

async function logIn(app: TestApp): Promise<{ Cookie: string }> {
  const { headers } = await app.call("POST", "/session", { token: CI });
  return { Cookie: headers.get("Set-Cookie")?.split(";")[0] as string };
}

async function openGate(app: TestApp): Promise<string> {
  await app.stores.jobs.put("job", {});
  await send(app, "PUT", "/api/jobs/job/gates/go", { title: "Go on?" });
  return "/api/jobs/job/gates/go";
}

async function linkOf(app: TestApp): Promise<string> {
  const gate = await app.stores.gates.collection.native.findOne({ key: "go" });
  if (!gate) throw new Error("there is no gate");
  return new URL(await answerUrl(app.stores.answerLinks, app.url, gate)).pathname;
}

/** Inserts a run that failed and is finalized. */
async function failedRun(app: TestApp): Promise<string> {
  const runId = await acceptRun(app, "hook:audited");
  await send(app, "POST", `/api/runs/${runId}/cancel`);
  await app.stores.runs.collection.native.updateOne({ _id: runId }, { $set: { finalized: true } });
  return runId;
}

async function pendingDelivery({ stores }: TestApp): Promise<string> {
  const _id = randomUUID();
  await stores.deliveries.add({ _id, runId: null, channel: "log", to: "ops", text: "Done.", fault: null });
  return _id;
}

/** Returns an act that calls a path of a new record, and returns the id of the record. */
const callOn =
  (make: (app: TestApp) => Promise<string>, path: string, method = "POST", body?: object) =>
  async (app: TestApp): Promise<string> => {
    const id = await make(app);
    await send(app, method, path.replace("ID", id), body);
    return id;
  };

/** Returns an act of one call about a target. */
const call =
  (target: string, method: string, path: string, body?: object) =>
  async (app: TestApp): Promise<string> => {
    await send(app, method, path, body);
    return target;
  };

const newJob = async ({ stores }: TestApp) => {
  await stores.jobs.put("job", {});
  return "job";
};

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const REPLY_TARGET = "/api/sessions/main/reply-target";
const CHAT = "town".padEnd(26, "0");

/** The actions that requests cause. The others are those of workers, whose tests are in test/workers. */
type Action = Exclude<AuditAction, "chat.refused">;
const ACTIONS = AuditAction.enum.filter((action): action is Action => action !== "chat.refused");

/** The calls that leave an entry, for each action. */
const CASES: Readonly<Record<Action, readonly Case[]>> = {
  "job.delete": [{ title: "DELETE of a job", actor: "ci", act: callOn(newJob, "/api/jobs/ID", "DELETE") }],
  "jobs.delete": [
    {
      title: "DELETE of jobs by filter",
      actor: "ci",
      act: call('{"status":["failed"]}', "DELETE", "/api/jobs?status=failed"),
    },
  ],
  "job.cancel": [
    {
      title: "a forced cancellation",
      actor: "ci",
      async act(app) {
        await newJob(app);
        await send(app, "POST", "/api/jobs/job/cancel", { reason: "Not needed" });
        await send(app, "POST", "/api/jobs/job/cancel", { force: true });
        return "job";
      },
    },
  ],
  "token.create": [
    { title: "a job token", actor: "ci", act: callOn(newJob, "/api/jobs/ID/token", "POST", { scope: "read" }) },
  ],
  "share.create": [{ title: "a share link", actor: "ci", act: callOn(newJob, "/api/jobs/ID/share", "POST", {}) }],
  "share.revoke": [
    { title: "a revocation of share links", actor: "ci", act: callOn(newJob, "/api/jobs/ID/share", "DELETE") },
  ],
  "gate.answer": [
    {
      title: "an answer by token",
      actor: "ci",
      async act(app) {
        const path = await openGate(app);
        await send(app, "POST", `${path}/answer`, { action: "decline" });
        return "job/go";
      },
    },
    {
      title: "an answer by cookie",
      actor: "cookie:ci",
      async act(app) {
        const path = await openGate(app);
        await send(app, "POST", `${path}/answer`, { action: "decline" }, await logIn(app));
        return "job/go";
      },
    },
    {
      title: "an answer by link",
      actor: "anonymous",
      async act(app) {
        await openGate(app);
        await send(app, "POST", await linkOf(app), form({ action: "decline", revision: "1" }), FORM);
        return "job/go";
      },
    },
  ],
  "gate.withdraw": [
    {
      title: "a withdrawal, of which the second one changes nothing",
      actor: "ci",
      async act(app) {
        const path = await openGate(app);
        await send(app, "DELETE", path);
        await send(app, "DELETE", path);
        return "job/go";
      },
    },
    {
      title: "a withdrawal by a job token",
      actor: "job-token:job",
      async act(app) {
        const path = await openGate(app);
        const { token } = await send(app, "POST", "/api/jobs/job/token", { scope: "report" });
        await send(app, "DELETE", path, undefined, bearer(token));
        return "job/go";
      },
    },
  ],
  "gate.expire": [
    {
      title: "an expiry, which no request causes",
      actor: "expiry",
      async act(app) {
        const path = await openGate(app);
        const expiresAt = new Date(app.clock.now().getTime() + 60_000).toISOString();
        await send(app, "PUT", path, { title: "Go?", expiresAt, onExpiry: "accept" });
        app.clock.advance(61_000);
        await send(app, "GET", path);
        return "job/go";
      },
    },
  ],
  "run.retry": [{ title: "POST retry", actor: "ci", act: callOn(failedRun, "/api/runs/ID/retry") }],
  "run.again": [{ title: "POST again", actor: "ci", act: callOn(failedRun, "/api/runs/ID/again") }],
  "run.cancel": [
    {
      title: "POST cancel",
      actor: "ci",
      act: callOn((app) => acceptRun(app, "hook:audited"), "/api/runs/ID/cancel"),
    },
  ],
  "delivery.retry": [{ title: "POST retry", actor: "ci", act: callOn(pendingDelivery, "/api/deliveries/ID/retry") }],
  "delivery.cancel": [{ title: "POST cancel", actor: "ci", act: callOn(pendingDelivery, "/api/deliveries/ID/cancel") }],
  "event.delete": [
    {
      title: "DELETE of an event",
      actor: "ci",
      async act(app) {
        await send(app, "POST", "/hooks/wake", { text: "It rains", mode: "next-heartbeat" }, bearer(HOOK));
        const { events } = await send(app, "GET", "/api/sessions/main/events");
        await send(app, "DELETE", `/api/sessions/main/events/${events[0].eventId}`);
        return events[0].eventId;
      },
    },
  ],
  "channel.test": [
    {
      title: "a test message",
      actor: "ci",
      act: call(`mattermost ${CHAT}`, "POST", "/api/channels/mattermost/test", { to: CHAT }),
    },
  ],
  "channel.check": [
    {
      title: "a check of the credentials",
      actor: "ci",
      async act(app) {
        const worker = await startWorker(app);
        await send(app, "POST", "/api/channels/mattermost/check").finally(() => worker.close());
        return "mattermost";
      },
    },
  ],
  "rule.test": [{ title: "a test of a rule", actor: "ci", act: call("failed", "POST", "/api/notify/failed/test") }],
  "hook.test": [
    {
      title: "a test of the agent hook",
      actor: "api-token",
      async act(app) {
        await send(app, "POST", "/api/hooks/test", undefined, bearer(API));
        return "agent";
      },
    },
  ],
  logout: [
    {
      title: "a log-out, of which the second one changes nothing",
      actor: "cookie:ci",
      async act(app) {
        const cookie = await logIn(app);
        await send(app, "DELETE", "/session", undefined, cookie);
        await send(app, "DELETE", "/session", undefined, cookie);
        return null;
      },
    },
  ],
  "channel.resume": [
    { title: "POST resume", actor: "ci", act: call("mattermost", "POST", "/api/channels/mattermost/resume") },
  ],
  "reply-target.set": [
    {
      title: "PUT of the reply target",
      actor: "ci",
      act: call("log ops", "PUT", REPLY_TARGET, { channel: "log", to: "ops" }),
    },
  ],
  "reply-target.clear": [
    { title: "DELETE of the reply target", actor: "ci", act: call("main", "DELETE", REPLY_TARGET) },
  ],
  "request.replay": [
    {
      title: "a replay, not a dry run",
      actor: "ci",
      async act(app) {
        await send(app, "POST", "/hooks/ci", {}, bearer(HOOK));
        const { requests } = await send(app, "GET", "/api/hooks/requests");
        const path = `/api/hooks/requests/${requests[0].requestId}/replay`;
        await send(app, "POST", path, { dryRun: true });
        await send(app, "POST", path, {});
        return requests[0].requestId;
      },
    },
  ],
  login: [
    {
      title: "a log-in",
      actor: "cookie:ci",
      async act(app) {
        await logIn(app);
        return null;
      },
    },
  ],
  "token.refused": [
    ["an unknown token of the API", "/api/jobs", "a-guess-of-a-token"],
    ["an expired token", "/api/jobs", "the-token-that-has-expired"],
    ["a changed job token", "/api/jobs", "sbj_changed.token"],
    ["an unknown token of MCP", "/mcp", "a-guess-of-a-token"],
    ["an unknown token of hooks", "/hooks/wake", "a-guess-of-a-token"],
    ["a link of a gate that is not valid", "/answer/a-guess-of-a-link", ""],
  ].map(([title = "", path = "", token = ""]) => ({
    title,
    actor: "anonymous",
    async act(app) {
      const isPost = ["/mcp", "/hooks/wake"].includes(path);
      const { status } = await app.call(
        ...([isPost ? "POST" : "GET", path, isPost ? {} : undefined] as const),
        token ? bearer(token) : {},
      );
      expect(status).to.equal(token ? 401 : 404);
      return null;
    },
  })),
};

describe("the audit log", () => {
  const app = useApp({ config: CONFIG });

  const entriesOf = async (action: AuditAction) =>
    (await app.call("GET", `/api/audit?action=${action}`, undefined, bearer(API))).body.entries;

  it("has a case for each action", () => {
    expect(Object.keys(CASES).sort()).to.deep.equal(ACTIONS.toSorted());
    expect(Object.values(CASES).filter((cases) => cases.length === 0)).to.deep.equal([]);
  });

  for (const action of ACTIONS)
    for (const { title, actor, act } of CASES[action])
      it(`has one entry of ${action} for ${title}`, async () => {
        const target = await act(app);

        const entries = await entriesOf(action);
        expect(entries).to.have.length(1);
        const [{ auditId, at, address, requestId, serviceRequestId, ...entry }] = entries;
        expect(entry).to.deep.equal({ actor, action, target });
        expect(at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(address).to.match(action === "gate.expire" ? /^$/ : /127\.0\.0\.1|::1/);
        expect([typeof auditId, requestId]).to.deep.equal(["string", serviceRequestId]);
      });
});
