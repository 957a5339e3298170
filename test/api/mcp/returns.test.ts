import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { createClient } from "../../../src/client/client.ts";
import { JobTokens } from "../../../src/models/jobs/tokens/jobTokens.ts";
import { reportingEnv } from "../../../src/workers/runs/reportingEnv.ts";
import { runInProcess } from "../../support/cli.ts";
import { agentRequest } from "../../support/factories.ts";
import { useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";
const SENTENCE = "This session is woken when the job ends. Do not poll, and do not wait.";

describe("an agent run that starts jobs", () => {
  const app = useSharedApp({ apiToken: API });
  let runId: string;
  let env: Record<string, string>;
  before(async () => {
    runId = randomUUID();
    const request = { ...agentRequest, trackAsJob: true };
    const run = { _id: runId, sessionKey: "s", request };
    await app.stores.runs.accept([{ ...run, name: null, singleUse: false, kind: "agent", mapped: null }]);
    await app.stores.jobs.put(runId, {});
    env = await reportingEnv(run, new JobTokens(app.stores, app.clock, app.config.server), app.url);
  });

  const tool = async (name: string, args: object, token = env.SIGNALBOX_TOKEN) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-11-25",
    };
    const params = { name, arguments: args };
    const { body } = await app.call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers);
    const { result } = typeof body === "string" ? JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? "{}") : body;
    return { ...result, text: result.content.map(({ text }: { text: string }) => text).join("\n") };
  };
  const returnTo = async (jobId: string) =>
    (
      await app.call("GET", `/api/jobs/${encodeURIComponent(jobId)}`, undefined, {
        Authorization: `Bearer ${API}`,
      })
    ).body.returnTo;

  it("is woken by a job of job_create by itself, and the result says so, also that of step_report", async () => {
    const jobId = `${runId}/mcp`;
    const created = await tool("job_create", { jobId, name: "Build" });
    const reported = await tool("step_report", { jobId, stepKey: "a", stepName: "A" });
    const own = await tool("step_report", { stepKey: "a", stepName: "A" });

    expect((await returnTo(jobId)).sessionKey).to.equal("s");
    expect(created.text).to.include(SENTENCE);
    expect(reported.text).to.include(SENTENCE);
    expect(own.text).to.not.include(SENTENCE);
  });

  it("is not woken by a job that says returnTo: null, nor by one of another token", async () => {
    const silent = await tool("job_create", { jobId: `${runId}/silent`, returnTo: null });
    const others = await tool("job_create", { jobId: "others" }, API);

    expect(silent.text).to.not.include(SENTENCE);
    expect(others.text).to.not.include(SENTENCE);
    expect([await returnTo(`${runId}/silent`), await returnTo("others")]).to.deep.equal([null, null]);
  });

  it("learns which ids it may choose", async () => {
    const refused = await tool("job_create", { jobId: "build" });

    expect(refused.isError).to.equal(true);
    expect(refused.text).to.include(`ids begin with ${runId}/`);
  });

  it("is woken with returnTo: self of the client, which reads the variables of the run", async () => {
    const before = { ...process.env };
    Object.assign(process.env, env);
    try {
      const client = createClient();
      await client.job(`${runId}/client`).create({ returnTo: "self" });
      await client.job().step("b", { name: "B" }).start();
      await client.close();
    } finally {
      for (const name of Object.keys(env)) delete process.env[name];
      Object.assign(process.env, before);
    }

    expect((await returnTo(`${runId}/client`)).sessionKey).to.equal("s");
    expect(() => createClient()).to.throw(TypeError, "url is required");
  });

  it("is woken with --return of the command line", async () => {
    const put = await runInProcess(["jobs", "put", `${runId}/cli`, "--return"], env);
    const ran = await runInProcess(["run", "--return", "--name", "From run", "--", "true"], env);
    const outside = await runInProcess(["jobs", "put", "x", "--return"], { SIGNALBOX_URL: app.url });

    expect([put.code, ran.code]).to.deep.equal([0, 0]);
    expect((await returnTo(`${runId}/cli`)).sessionKey).to.equal("s");
    const job = await app.stores.jobs.collection.findOne({ name: "From run" });
    expect([job?.returnTo?.sessionKey, job?.jobId.startsWith(`${runId}/`)]).to.deep.equal(["s", true]);
    expect(outside.code).to.equal(2);
    expect(outside.stderr).to.include("SIGNALBOX_TOKEN");
  });

  it("names its session by the key to --return with another token", async () => {
    const { code, stderr } = await runInProcess(["jobs", "put", "by-key", "--return"], {
      ...env,
      SIGNALBOX_API_TOKEN: API,
    });

    expect([code, stderr]).to.deep.equal([0, ""]);
    expect((await returnTo("by-key")).sessionKey).to.equal("s");
  });
});
