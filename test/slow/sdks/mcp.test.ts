import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { connectDatabase } from "../../../src/models/database.ts";
import { eventually } from "../../support/eventually.ts";
import { MCP_CLIENTS as CURRENT_CLIENTS } from "../../support/mcpClients.ts";
import { type Service, startProcess } from "../../support/process.ts";
import { mongoUri, redisUrl } from "../../support/servers/servers.ts";
import { FORMER_CLIENT } from "./formerMcpClient.ts";

const require = createRequire(import.meta.url);
const MCP_CLIENTS = [FORMER_CLIENT, ...CURRENT_CLIENTS] as const;
const run = promisify(execFile);
const API = "an-api-token-of-length";
const HOOK = "a-hook-token-of-length";
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
/** The folder of the inspector, which finds its package.json only from there. */
const INSPECTOR = join(dirname(require.resolve("@modelcontextprotocol/inspector-cli/package.json")), "build");
const CONFORMANCE = join(dirname(require.resolve("@modelcontextprotocol/conformance/package.json")), "dist/index.js");

/**
 * The conformance scenarios that any server can pass. The others call tools, resources and prompts of the package's example
 * server, such as `test_simple_text`, or need what this service does not offer: logging, completion, prompts, subscriptions.
 */
const SCENARIOS = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

describe("MCP of real processes", () => {
  let dir: string;
  let env: Record<string, string>;
  const running: Service[] = [];

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-mcp-"));
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    await database.prepare();
    await database.close();
    env = { MONGODB_URI: uri, REDIS_URL: await redisUrl() };
  });
  after(async () => {
    for (const service of running.splice(0)) if (service.child.exitCode === null) await service.stop("SIGKILL");
    rmSync(dir, { recursive: true });
  });

  const start = async (main: string, more: Record<string, string>) => {
    const service = startProcess(`test/support/processes/${main}.ts`, { ...env, ...more });
    running.push(service);
    const { url } = await service.ready;
    return { ...service, url };
  };
  const configure = (name: string, config: object) => {
    const file = join(dir, `${name}.json5`);
    writeFileSync(file, JSON.stringify({ redis: { prefix: `mcp-${randomUUID().slice(0, 8)}` }, ...config }));
    return { SIGNALBOX_CONFIG: file };
  };
  describe("a web process below a path prefix with two workers behind it", () => {
    let url: string;
    const ask = async (method: string, path: string, body?: object, token = API) => {
      const headers = { ...bearer(token), ...(body && { "Content-Type": "application/json" }) };
      const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
      return (await response.json()) as any;
    };
    before(async () => {
      const agent = [process.execPath, resolve("test/support/processes/mcpAgent.ts")];
      const config = configure("prefixed", {
        server: { apiToken: API, basePath: "/signalbox" },
        hooks: { enabled: true, token: HOOK },
        agents: { defaults: { runner: "command", trackAsJob: true }, runners: { command: { command: agent } } },
      });
      ({ url } = await start("web", config));
      await Promise.all([0, 1].map(() => start("worker", { ...config, SIGNALBOX_URL: url })));
    });

    it("lets an agent of the command runner take its own job through three steps, ask a person and be cancelled", async () => {
      const body = { message: "Publish the report", deliver: false, wakeMode: "next-heartbeat" };
      const { runId } = await ask("POST", "/hooks/agent", body, HOOK);
      const path = `/api/jobs/${runId}`;
      const gate = await eventually(async () => {
        const found = await ask("GET", `${path}/gates/publish`);
        return found.status === "open" && found;
      }, "the agent to ask");
      await ask("POST", `${path}/gates/publish/answer`, { action: "accept", content: { title: "Final" } });
      await eventually(
        async () => (await ask("GET", `${path}/steps/publish`)).message === "accept: Final",
        "the answer to arrive at the agent",
      );
      await ask("POST", `${path}/cancel`, { reason: "Not needed" });
      const job = await eventually(async () => {
        const read = await ask("GET", `${path}?include=steps`);
        return read.status !== "running" && read;
      }, "the job to end");

      expect(gate).to.include({ jobId: runId, title: "Publish the draft?" });
      expect(job).to.include({ status: "failed", message: "Cancelled: Not needed", progress: 60 });
      const steps = job.steps.map(({ stepName, status }: { stepName: string; status: string }) => [stepName, status]);
      expect(steps.slice(0, 3)).to.deep.equal([
        ["Agent turn", "failed"],
        ["Read the sources", "completed"],
        ["Write the draft", "completed"],
      ]);
      expect(steps[3][0]).to.equal("Publish");
      expect((await ask("GET", `/api/runs/${runId}`)).error.code).to.equal("cancelled");
      const { entries } = await ask("GET", `/api/audit?target=${runId}/publish`);
      expect(entries[0]).to.include({ actor: "api-token", action: "gate.answer" });
    });

    for (const { title, revision, connect } of MCP_CLIENTS)
      it(`serves the client ${title}: a run that a worker carries out, and its cancellation`, async () => {
        const client = await connect(url, API);
        const use = async (name: string, args: object) => {
          const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
          expect(isError ?? false, JSON.stringify(content)).to.equal(false);
          return structuredContent;
        };

        const { runId } = await use("agent_run", { message: "Publish the report", deliver: false });
        const stepOf = async () => (await use("job_get", { jobId: runId, include: "steps" })).steps.at(-1);
        await eventually(async () => (await stepOf())?.stepKey === "write", "the agent to work");
        await use("job_cancel", { jobId: runId, reason: "Not needed" });
        const job = await use("job_wait", { jobId: runId });
        const run = await use("run_get", { runId });
        const spoken = client.revision();
        await client.close();

        expect(spoken).to.equal(revision);
        expect(job).to.include({ status: "failed", message: "Cancelled: Not needed" });
        expect([run.status, run.error.code]).to.deep.equal(["failed", "cancelled"]);
      });

    it("serves the command line of the inspector", async () => {
      const inspect = async (...args: string[]) => {
        const server = ["--transport", "http", "--header", `Authorization: Bearer ${API}`];
        const { stdout } = await run(process.execPath, ["index.js", `${url}/mcp`, ...server, ...args], {
          cwd: INSPECTOR,
        });
        return JSON.parse(stdout);
      };
      const call = ["--method", "tools/call", "--tool-name"];

      const { tools } = await inspect("--method", "tools/list");
      const created = await inspect(...call, "job_create", "--tool-arg", "jobId=inspected", "name=Inspected");
      const read = await inspect("--method", "resources/read", "--uri", "signalbox://jobs/inspected");

      expect(tools.map(({ name }: { name: string }) => name)).to.include.members(["job_create", "gate_wait"]);
      expect(created.structuredContent).to.include({ jobId: "inspected", name: "Inspected" });
      expect(JSON.parse(read.contents[0].text)).to.include({ name: "Inspected" });
    });
  });

  for (const [where, server] of [
    ["at the root of its host", {}],
    ["below a path prefix", { basePath: "/signalbox" }],
  ] as const)
    it(`a web process without tokens ${where} passes the conformance scenarios that apply`, async () => {
      const { url } = await start("web", configure("open", { server }));

      for (const scenario of SCENARIOS) {
        const args = [CONFORMANCE, "server", "--url", `${url}/mcp`, "--scenario", scenario, "--output-dir", dir];
        const { stdout } = await run(process.execPath, args).catch((error: { stdout: string }) => error);
        expect(stdout, scenario).to.match(/Passed: ([1-9]\d*)\/\1, 0 failed/);
      }
    });

  it("a web process keeps a waiting tool over a reload of the configuration, and answers it when it stops", async () => {
    const config = configure("stopping", { server: { apiToken: API } });
    const web = await start("web", config);
    const [{ connect }] = MCP_CLIENTS;
    const client = await connect(web.url, API);
    await client.callTool({ name: "job_create", arguments: { jobId: "awaited" } });
    const started = Promise.withResolvers<void>();
    const waiting = client.callTool(
      { name: "job_wait", arguments: { jobId: "awaited" } },
      { onprogress: () => started.resolve() },
    );
    await started.promise;

    web.child.kill("SIGHUP");
    await eventually(() => /configuration is in effect/.test(web.output().stdout), "the reload");
    const ended = web.stop();
    const { structuredContent } = await waiting;

    expect(structuredContent).to.include({ jobId: "awaited", status: "running" });
    await client.close();
    expect(await ended).to.equal(0);
  });
});
