import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { allRoutes } from "../../../src/api/routes/all.ts";
import { createClient } from "../../../src/client/client.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { bearer } from "../../support/app.ts";
import { acceptRun } from "../../support/factories.ts";
import { MCP_CLIENTS } from "../../support/mcpClients.ts";
import { useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";
const WRITER = "the-token-of-a-writer-of-jobs";
const OPERATOR = "the-token-of-an-operator-of-runs";
const ANSWERER = "the-token-of-one-who-answers";
const SECRET = "SECRET-OF-ANOTHER";
const CONFIG = JSON.stringify({
  server: {
    apiToken: API,
    tokens: [
      { name: "writer", token: WRITER, scopes: ["jobs:write"] },
      { name: "answerer", token: ANSWERER, scopes: ["gates:answer"] },
      { name: "operator", token: OPERATOR, scopes: ["runs:write"] },
    ],
  },
  hooks: { enabled: true, token: "a-hook-token-of-length" },
});

/** The fields that a receipt may have: ids, states and times. */
const HARMLESS = /^(\w+(Id|Key|At)|key|revision|status|state|action|progress|cancelRequested|notBefore|traceparent)$/;
/** Changes whose responses have nothing that others have written, or what the caller may read by another rule. */
const WITHOUT_RECEIPT: readonly string[] = [
  ...[
    "deleteJob",
    "deleteJobs",
    "createJobToken",
    "ping",
    "pingLog",
    "pingState",
    "pingExit",
    "appendLog",
    "postLineage",
  ],
  // whoever may open a gate may read it
  ...["putGate", "withdrawGate"],
  ...["resumeChannel", "checkChannel", "setReplyTarget", "clearReplyTarget", "deleteWaitingEvent", "testNotifyRule"],
  ...["replayHookRequest", "testHook", "tryHookRequest"],
];

describe("a caller that may write and not read", () => {
  const app = useSharedApp({ config: CONFIG });
  const as = (token: string, method: string, path: string, body?: unknown) =>
    app.call(method, path, body, bearer(token));

  /** Creates a job of somebody else, with a step and a secret in each of its texts and objects. */
  async function foreignJob(): Promise<string> {
    const jobId = randomUUID();
    const text = { name: SECRET, description: SECRET, message: SECRET };
    const data = { input: { SECRET }, metadata: { SECRET }, output: { SECRET } };
    await as(API, "PUT", `/api/jobs/${jobId}`, { ...text, ...data });
    const step = { stepName: SECRET, message: SECRET, output: { SECRET }, status: "running" };
    await as(API, "PUT", `/api/jobs/${jobId}/steps/s`, step);
    return jobId;
  }

  it("receives receipts for jobs and steps", async () => {
    const jobId = await foreignJob();
    const times = ["createdAt", "updatedAt", "lastReportAt", "staleAt"];

    const put = await as(WRITER, "PUT", `/api/jobs/${jobId}`, {});
    const step = await as(WRITER, "PUT", `/api/jobs/${jobId}/steps/s`, {});
    const cancel = await as(WRITER, "POST", `/api/jobs/${jobId}/cancel`, {});
    const after = await as(WRITER, "PUT", `/api/jobs/${jobId}`, {});

    expect(put.body).to.have.all.keys("jobId", "status", "progress", "traceparent", ...times);
    expect(step.body).to.have.all.keys(
      ...["stepId", "jobId", "stepKey", "status", "progress", "createdAt", "updatedAt", "startedAt"],
    );
    expect(cancel.status).to.equal(202);
    for (const { body } of [cancel, after]) {
      expect(body).to.have.all.keys("jobId", "status", "progress", "traceparent", ...times, "cancelRequested");
      expect(body).to.include({ jobId, status: "running", progress: 0, cancelRequested: true });
    }
    expect((await as(WRITER, "GET", `/api/jobs/${jobId}`)).status).to.equal(403);
    const whole = await as(API, "PUT", `/api/jobs/${jobId}`, {});
    expect(whole.body).to.deep.include({ name: SECRET, input: { SECRET }, cancelRequested: true });
  });

  it("receives receipts for runs and deliveries", async () => {
    const runId = await acceptRun(app, "hook:test");
    const cancelled = await as(OPERATOR, "POST", `/api/runs/${runId}/cancel`);

    expect(cancelled.body).to.have.all.keys("runId", "status", "createdAt", "startedAt", "endedAt");
    expect(cancelled.body).to.include({ runId, status: "failed" });
    expect((await as(OPERATOR, "GET", `/api/runs/${runId}`)).status).to.equal(403);
    expect((await as(API, "GET", `/api/runs/${runId}`)).body).to.include({ runId, sessionKey: "hook:test" });
  });

  it("receives receipts for gates, also in errors, and reads no gate", async () => {
    const path = `/api/jobs/${await foreignJob()}/gates`;
    const requestedSchema = { type: "object", properties: { text: { type: "string", title: SECRET } } };
    for (const key of ["one", "other", "late"])
      await as(API, "PUT", `${path}/${key}`, { title: SECRET, message: SECRET, requestedSchema });
    const byOther = { action: "accept", content: { text: SECRET }, answeredBy: SECRET };
    await as(API, "POST", `${path}/other/answer`, byOther);
    await as(API, "DELETE", `${path}/late`);
    const fields = ["gateId", "jobId", "key", "revision", "status", "action", "createdAt", "answeredAt", "expiresAt"];

    const changed = await as(ANSWERER, "POST", `${path}/one/answer`, { action: "accept", revision: 9 });
    const answered = await as(ANSWERER, "POST", `${path}/one/answer`, { action: "accept" });
    const second = await as(ANSWERER, "POST", `${path}/other/answer`, { action: "decline" });
    const late = await as(ANSWERER, "POST", `${path}/late/answer`, { action: "decline" });

    expect([changed.body.code, second.body.code, late.body.code]).to.deep.equal([
      ...["gate_changed", "gate_answered", "gate_closed"],
    ]);
    for (const gate of [changed.body.gate, answered.body, second.body.gate, late.body.gate])
      expect(gate).to.have.all.keys(fields);
    expect(second.body.gate).to.include({ key: "other", status: "answered", action: "accept" });
    expect(JSON.stringify([changed.body, answered.body, second.body, late.body])).to.not.include(SECRET);
    for (const read of ["/api/gates", `${path}/one`]) expect((await as(ANSWERER, "GET", read)).status).to.equal(403);
    const whole = await as(API, "POST", `${path}/one/answer`, { action: "decline" });
    expect(whole.body).to.deep.include({ detail: 'The gate "one" was answered by "api". The first answer counts.' });
    expect(whole.body.gate).to.deep.include({ title: SECRET, message: SECRET, requestedSchema });
  });

  for (const { title, connect } of MCP_CLIENTS)
    it(`receives the same receipts as results of tools, whose schemas describe them: ${title}`, async () => {
      const jobId = await foreignJob();
      const client = await connect(app.url, WRITER);
      await client.listTools(); // the client then validates each result

      for (const [name, args] of [
        ["job_create", { jobId }],
        ["step_report", { jobId, stepKey: "s" }],
        ["job_cancel", { jobId }],
      ] as const) {
        const result = await client.callTool({ name, arguments: args });
        expect(result.isError, JSON.stringify(result)).to.not.equal(true);
        expect(JSON.stringify(result), name).to.not.include("SECRET");
        expect(result.structuredContent, name).to.include({ jobId, status: "running" });
      }
      await client.close();
    });

  it("gets a receipt from each route that changes records, unless its response shows nothing of others", () => {
    const { hooks } = parseConfig(CONFIG, {});
    const changes = allRoutes(hooks, []).filter(({ method, path, scopes }) => {
      const isScoped = scopes.length > 0 && !scopes.some((scope) => scope.endsWith(":read") || scope === "admin");
      return method !== "get" && path.startsWith("/api/") && isScoped;
    });

    expect(changes.flatMap(({ operationId, receipt }) => (receipt ? [] : [operationId])).sort()).to.deep.equal(
      WITHOUT_RECEIPT.toSorted(),
    );
    for (const { operationId, receipt } of changes.filter((route) => route.receipt)) {
      for (const field of Object.keys(receipt?.schema.properties ?? {})) expect(field, operationId).to.match(HARMLESS);
    }
  });

  describe("with signalbox/client", () => {
    const client = () => createClient({ url: app.url, token: WRITER });

    it("creates and reports a job, and stops when a report says that cancellation was requested", async () => {
      const jobId = randomUUID();
      const mine = client();
      await mine.job(jobId).create({ name: "Mine" });
      const step = mine.job(jobId).step("s", { name: "S", from: 0, to: 100 });
      const cancelled = new Promise<Error>((resolve) => step.onCancel(resolve, 1));
      await step.start();
      await as(API, "POST", `/api/jobs/${jobId}/cancel`, { reason: "Not needed" });
      step.progress(50);
      await step.flush();

      expect((await cancelled).name).to.equal("CancelledError");
      await step.fail("Stopped", { failJob: true });
      await mine.close();
      expect((await as(API, "GET", `/api/jobs/${jobId}`)).body).to.include({ status: "failed", message: "Stopped" });
    });

    it("asks a person, and stops waiting when cancellation is requested or the job has ended", async () => {
      const jobId = randomUUID();
      const mine = client();
      await mine.job(jobId).create();
      await as(API, "POST", `/api/jobs/${jobId}/cancel`, {});
      const ask = (key: string) =>
        mine
          .job(jobId)
          .gate(key, { title: "Publish?" })
          .catch((error) => error);

      expect(await ask("one")).to.include({ name: "CancelledError", reason: null });
      await as(API, "PUT", `/api/jobs/${jobId}`, { status: "failed" });
      expect(await ask("other")).to.include({ code: "job_ended" });
      await mine.close();
    });
  });
});
