import { randomUUID } from "node:crypto";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { MCP_CLIENTS, type McpClient } from "../../support/mcpClients.ts";
import { useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";
const READER = "the-token-of-a-reader";
const TEAM = "the-token-of-the-own-team";
const WRITER = "the-token-of-a-writer-of-jobs";
const HOOKS = "the-token-that-only-calls-hooks";
const NAMES = ["job_create", "step_report", "job_get", "job_list", "job_wait", "job_cancel", "gate_open", "gate_wait"];
const ADMIN = { Authorization: `Bearer ${API}` };
const READ_TOOLS = ["job_get", "job_list", "job_wait"];
const CONFIG = JSON.stringify({
  server: {
    apiToken: API,
    tokens: [
      { name: "reader", token: READER, scopes: ["jobs:read"] },
      { name: "team", token: TEAM, scopes: ["jobs:read", "jobs:write"], jobs: { idPrefix: "own/" } },
      { name: "writer", token: WRITER, scopes: ["jobs:write"] },
      { name: "caller", token: HOOKS, scopes: ["hooks:agent", "hooks:wake", "runs:read"] },
    ],
  },
  hooks: { enabled: true, token: "a-hook-token-of-length" },
});

describe("the tools of POST /mcp", () => {
  const app = useSharedApp({ config: CONFIG, countFailure: async () => {} });

  for (const { title, revision, connect } of MCP_CLIENTS) {
    describe(`with the client ${title}`, () => {
      const opened: McpClient[] = [];
      const open = async (token: string) => {
        const client = await connect(app.url, token);
        opened.push(client);
        return client;
      };
      afterEach(async () => {
        for (const client of opened.splice(0)) await client.close();
      });

      it(`agrees on revision ${revision} of the protocol`, async () => {
        expect((await open(API)).revision()).to.equal(revision);
      });

      it("lists only the tools that the scopes allow, always in the same order", async () => {
        const namesOf = async (token: string) => (await (await open(token)).listTools()).tools.map(({ name }) => name);

        const all = await namesOf(API);
        expect(all).to.deep.equal([...NAMES, "agent_run", "wake", "run_get"]);
        expect(await namesOf(API)).to.deep.equal(all);
        expect(await namesOf(READER)).to.deep.equal(READ_TOOLS);
        expect(await namesOf(TEAM)).to.deep.equal(NAMES);
        expect(await namesOf(HOOKS)).to.deep.equal(["agent_run", "wake", "run_get"]);
        expect((await (await open(HOOKS)).listResourceTemplates()).resourceTemplates).to.deep.equal([]);
      });

      it("describes each tool by a title, annotations and schemas that a strict validator accepts", async () => {
        const { tools } = await (await open(API)).listTools();

        for (const { name, title, description, annotations, inputSchema, outputSchema } of tools) {
          expect(title, name).to.be.a("string");
          expect(description.length, name).to.be.above(60);
          expect(annotations, name).to.include.all.keys("title", "readOnlyHint");
          for (const schema of [inputSchema, outputSchema]) {
            expect(schema.type, name).to.equal("object");
            strictValidator().compile(schema);
          }
        }
      });

      it("asks for no token as an argument: the deprecated one of hooks in the URL is none", async () => {
        const { tools } = await (await open(API)).listTools();

        const asking = tools.filter(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}).includes("token"));
        expect(asking.map(({ name }) => name)).to.deep.equal([]);
      });

      it("takes a job through its steps", async () => {
        const client = await open(API);
        const jobId = `import ${title}`;
        await client.callTool({ name: "job_create", arguments: { jobId, name: "Import", metadata: { team: "data" } } });
        const range = { jobProgressStart: 0, jobProgressEnd: 100 };

        const first = await client.callTool({
          name: "step_report",
          arguments: { jobId, stepKey: "load", stepName: "Load", progress: 40, ...range, message: "40 of 100 files" },
        });
        await client.callTool({
          name: "step_report",
          arguments: { jobId, stepKey: "load", status: "completed", progress: 100, ...range, output: { files: 100 } },
        });
        const job = await client.callTool({ name: "job_get", arguments: { jobId, include: "steps" } });
        const list = await client.callTool({
          name: "job_list",
          arguments: { metadata: { team: "data" }, name: "import" },
        });

        expect(first.isError ?? false).to.equal(false);
        expect(first.structuredContent).to.include({ stepKey: "load", progress: 40 });
        expect(job.structuredContent).to.deep.include({ status: "completed", progress: 100, output: { files: 100 } });
        expect(job.content).to.deep.equal([{ type: "text", text: "status: completed, progress: 100" }]);
        const row = list.structuredContent.jobs.find((one: { jobId: string }) => one.jobId === jobId);
        expect(row).to.include({ name: "Import" }).and.not.have.any.keys("input", "metadata", "output");
      });

      it("returns errors of the service as results, which name the argument", async () => {
        const client = await open(API);

        const wrong = await client.callTool({
          name: "step_report",
          arguments: { jobId: "a", stepKey: "b", progress: 200 },
        });
        const missing = await client.callTool({ name: "job_get", arguments: { jobId: "none" } });
        const unknown = await client.callTool({ name: "job_get", arguments: { jobId: "none", extra: 1 } });
        const absent = await client.callTool({ name: "job_get", arguments: {} });

        for (const { isError } of [wrong, missing, unknown, absent]) expect(isError).to.equal(true);
        expect(wrong.content[0].text).to.match(/^progress must be .*\(invalid_body\)$/);
        expect(missing.content[0].text).to.match(/There is no job "none"\. \(job_not_found\)/);
        expect(unknown.content[0].text).to.match(/extra/);
        expect(absent.content[0].text).to.match(/jobId/);
        expect((await client.listTools()).tools).to.not.have.length(0);
      });

      it("asks a person, and waits for the answer", async () => {
        const jobId = `deploy ${title}`;
        const client = await open(API);
        await client.callTool({ name: "job_create", arguments: { jobId } });
        const opened = await client.callTool({
          name: "gate_open",
          arguments: { jobId, key: "go", title: "Deploy version 7?" },
        });

        const waiting = client.callTool({ name: "gate_wait", arguments: { jobId, key: "go" } });
        await eventually(() => app.waiting() > 0, "the tool to wait");
        const path = `/api/jobs/${encodeURIComponent(jobId)}/gates/go/answer`;
        await app.call("POST", path, { action: "decline", answeredBy: "Ann" }, ADMIN);

        expect(opened.structuredContent).to.include({ status: "open", title: "Deploy version 7?" });
        expect((await waiting).structuredContent).to.include({
          status: "answered",
          action: "decline",
          answeredBy: "Ann",
        });
      });

      it("requests the cancellation of a job, which the answer to the next report shows", async () => {
        const jobId = `unwanted ${title}`;
        const client = await open(API);
        await client.callTool({ name: "job_create", arguments: { jobId } });
        await client.callTool({ name: "job_cancel", arguments: { jobId, reason: "Not needed" } });

        const report = { name: "step_report", arguments: { jobId, stepKey: "a", stepName: "A" } };
        const { structuredContent } = await client.callTool(report);

        expect(structuredContent).to.include({ cancelRequested: true });
      });

      it("fails a job at once with force, which leaves an entry in the audit log", async () => {
        const jobId = `orphaned ${title}`;
        const client = await open(WRITER);
        await app.stores.jobs.put(jobId, {});

        const args = { jobId, reason: "Nobody works on it", force: true };
        const { structuredContent } = await client.callTool({ name: "job_cancel", arguments: args });

        const audit = `/api/audit?target=${encodeURIComponent(jobId)}`;
        const { body } = await app.call("GET", audit, undefined, ADMIN);
        expect(structuredContent).to.include({ status: "failed" });
        expect(body.entries.map(({ actor, action }: Record<string, unknown>) => [actor, action])).to.deep.equal([
          ["writer", "job.cancel"],
        ]);
      });

      it("calls hooks by their scopes, and reads what became of the run", async () => {
        const client = await open(HOOKS);

        const run = await client.callTool({ name: "agent_run", arguments: { message: "Hello", deliver: false } });
        const woken = await client.callTool({ name: "wake", arguments: { text: "It rains", mode: "next-heartbeat" } });
        const { runId } = run.structuredContent;
        const read = await client.callTool({ name: "run_get", arguments: { runId } });

        expect(woken.structuredContent).to.include({ ok: true, mode: "next-heartbeat" });
        expect(read.structuredContent).to.include({ runId, status: "queued" });
      });

      it("confines a token to its jobs", async () => {
        await app.stores.jobs.put("own/a", {});
        await app.stores.jobs.put("foreign/a", {});
        const client = await open(TEAM);

        const foreign = await client.callTool({ name: "job_get", arguments: { jobId: "foreign/a" } });
        const changed = await client.callTool({ name: "job_create", arguments: { jobId: "foreign/a" } });
        const run = await client.callTool({ name: "agent_run", arguments: { message: "a" } });
        const list = await client.callTool({ name: "job_list", arguments: {} });

        expect(foreign.content[0].text).to.include("job_not_found");
        expect(changed.content[0].text).to.include("forbidden");
        expect(run.content[0].text).to.include("hooks:agent");
        expect(list.structuredContent.jobs.map((one: { jobId: string }) => one.jobId)).to.deep.equal(["own/a"]);
      });

      it("takes the job of a job token when none is named", async () => {
        await app.stores.jobs.put("mine", {});
        const { body } = await app.call("POST", "/api/jobs/mine/token", { scope: "report" }, ADMIN);
        const client = await open(body.token);
        const { tools } = await client.listTools();

        const report = await client.callTool({ name: "step_report", arguments: { stepKey: "a", stepName: "A" } });
        const other = await client.callTool({ name: "job_get", arguments: { jobId: "other" } });

        expect(tools.find(({ name }) => name === "step_report")?.inputSchema.required).to.deep.equal(["stepKey"]);
        expect(report.structuredContent).to.include({ jobId: "mine", stepKey: "a" });
        expect(other.isError).to.equal(true);
      });

      it("waits for the end of a job, with progress when the client asks for it", async () => {
        const jobId = `slow-${randomUUID()}`;
        await app.stores.jobs.put(jobId, {});
        const client = await open(API);
        const seen: { progress: number; message?: string }[] = [];
        const [started, moved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const onprogress = (progress: { progress: number; message?: string }) => {
          seen.push(progress);
          (progress.progress === 0 ? started : moved).resolve();
        };
        const waiting = client.callTool({ name: "job_wait", arguments: { jobId } }, { onprogress });

        await started.promise;
        const report = (body: object) =>
          app.call(
            "PUT",
            `/api/jobs/${jobId}/steps/a`,
            { stepName: "A", jobProgressStart: 0, jobProgressEnd: 100, ...body },
            ADMIN,
          );
        await report({ progress: 40, message: "Loading" });
        await moved.promise;
        await report({ progress: 100, status: "completed", output: {} });
        const { structuredContent } = await waiting;

        expect(structuredContent).to.include({ status: "completed", progress: 100 });
        expect(seen.map(({ progress, message }) => [progress, message])).to.deep.equal([
          [0, undefined],
          [40, "Loading"],
          [100, "Loading"],
        ]);
      });

      it("waits for the end of its own job with a job token that only reads", async () => {
        const jobId = `watched-${randomUUID()}`;
        await app.stores.jobs.put(jobId, {});
        const { body } = await app.call("POST", `/api/jobs/${jobId}/token`, { scope: "read" }, ADMIN);
        const client = await open(body.token);

        const waiting = client.callTool({ name: "job_wait", arguments: {} });
        await eventually(() => app.waiting() > 0, "the tool to wait");
        await app.call("POST", `/api/ping/${jobId}/done`, undefined, ADMIN);

        expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal(READ_TOOLS);
        expect((await waiting).structuredContent).to.include({ jobId, status: "completed" });
      });

      it("reads a job as a resource", async () => {
        await app.stores.jobs.put("a/b c", { name: "Readable" });
        const client = await open(READER);

        const { resourceTemplates } = await client.listResourceTemplates();
        const { contents } = await client.readResource({ uri: "signalbox://jobs/a%2Fb%20c" });
        const missing = await client.readResource({ uri: "signalbox://jobs/none" }).catch((error: Error) => error);

        expect(resourceTemplates[0].uriTemplate).to.equal("signalbox://jobs/{jobId}");
        expect(JSON.parse(contents[0].text)).to.include({ jobId: "a/b c", name: "Readable" });
        expect(String(missing)).to.include("There is no job");
      });
    });
  }
});

/** Returns a validator that refuses unknown keywords and formats, with those formats that every validator of MCP clients has. */
function strictValidator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true });
  return addFormats.default(ajv as never) as unknown as Ajv2020;
}
