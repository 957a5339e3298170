import { expect } from "chai";
import { brief } from "../../../src/api/mcp/brief.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { MCP_CLIENTS, type McpClient } from "../../support/mcpClients.ts";
import { startFollowingApp, startWait } from "../../support/waiting.ts";

const API = "an-api-token-of-length";
/** The limit of the contract, and some bytes for the envelope of the protocol. */
const MAX_BYTES = 40_000;
const LARGE = "x".repeat(500_000);

const sizeOf = (result: object): number => Buffer.byteLength(JSON.stringify(result));

describe("a result of a tool of POST /mcp", () => {
  let app: TestApp;
  let client: McpClient;
  before(async () => {
    app = await startApp({ apiToken: API });
    client = await MCP_CLIENTS[0].connect(app.url, API);
    await client.listTools(); // so that the client checks each result against its schema
  });
  after(async () => {
    await client.close();
    await app.close();
  });
  const use = (name: string, args: object) => client.callTool({ name, arguments: args });

  it("has the content once, and no text but what decides the next call", async () => {
    await app.stores.jobs.put("once", { name: "Seen once", input: { of: "the input" } });

    const job = await use("job_get", { jobId: "once" });
    const list = await use("job_list", { jobId: "once" });

    expect(JSON.stringify(job).split("Seen once")).to.have.length(2);
    expect(job.content[0].text).to.equal("status: running, progress: 0");
    expect(JSON.stringify(list).split("Seen once")).to.have.length(2);
    expect(list.structuredContent.jobs[0]).to.not.have.property("input");
  });

  it("has 20 rows by default, with input, output and metadata only if fields names them", async () => {
    for (let i = 0; i < 25; i++) await app.stores.jobs.put(`row-${i}`, { input: { i }, metadata: { i } });

    const first = (await use("job_list", { jobId: "row-" })).structuredContent;
    const rest = (await use("job_list", { jobId: "row-", cursor: first.nextCursor })).structuredContent;
    const full = (await use("job_list", { jobId: "row-", limit: 1, fields: ["input"] })).structuredContent;

    expect([first.jobs.length, rest.jobs.length, rest.nextCursor]).to.deep.equal([20, 5, null]);
    for (const row of [...first.jobs, ...rest.jobs]) expect(row).to.not.have.any.keys("input", "metadata", "output");
    expect(full.jobs).to.deep.equal([{ jobId: "row-24", input: { i: 24 } }]);
  });

  it("has at most 40 kB, and as many rows of a list as fit, after which the next page begins", async () => {
    for (let i = 0; i < 40; i++) await app.stores.jobs.put(`wide-${i}`, { input: { text: "y".repeat(10_000) } });
    const seen: string[] = [];

    for (let cursor: string | null | undefined; cursor !== null; ) {
      const args = { jobId: "wide-", limit: 1_000, fields: ["input"], ...(cursor && { cursor }) };
      const result = await use("job_list", args);
      expect(sizeOf(result)).to.be.below(MAX_BYTES + 500);
      seen.push(...result.structuredContent.jobs.map(({ jobId }: { jobId: string }) => jobId));
      cursor = result.structuredContent.nextCursor;
    }

    expect(new Set(seen).size).to.equal(40);
    expect(seen).to.have.length(40);
  });

  it("leaves out what is too large, says so in a sentence, and fits its schema", async () => {
    await app.stores.jobs.put("large", { description: "é".repeat(60_000), input: { LARGE }, metadata: { a: 1 } });
    const step = { stepName: "Step", output: { LARGE } };
    for (let i = 0; i < 5; i++)
      await app.call("PUT", `/api/jobs/large/steps/${i}`, step, { Authorization: `Bearer ${API}` });

    const all = await use("job_get", { jobId: "large", include: "steps" });
    const one = await use("job_get", { jobId: "large", stepKey: "3" });
    const row = await use("job_list", { jobId: "large", fields: ["input", "description"] });
    const { contents } = await client.readResource({ uri: "signalbox://jobs/large" });

    for (const result of [all, one, row]) {
      expect(sizeOf(result)).to.be.below(MAX_BYTES + 500);
      expect(result.content[0].text).to.match(/has been shortened\. \w+/);
    }
    expect(all.structuredContent.metadata).to.deep.equal({ a: 1 });
    expect(all.structuredContent.input.omitted).to.match(/^5000\d\d bytes/);
    expect(all.structuredContent.description).to.match(/^é{1000,}… \(cut\)$/);
    expect(all.structuredContent.steps.map(({ stepKey }: { stepKey: string }) => stepKey)).to.deep.equal([
      ...["0", "1", "2", "3", "4"],
    ]);
    expect(sizeOf(contents[0])).to.be.below(MAX_BYTES + 500);
  });

  it("pauses and says so, instead of asking for the next call at once, when nobody else can wait", async () => {
    const full = await startFollowingApp({ apiToken: API, maxWaiting: 1 });
    await full.stores.jobs.put("busy", {});
    const headers = { Authorization: `Bearer ${API}` };
    await full.call("PUT", "/api/jobs/busy/gates/go", { title: "Go on?" }, headers);
    const { answer } = await startWait(full, "/api/jobs/busy", { headers });
    const other = await MCP_CLIENTS[0].connect(full.url, API);

    const job = await other.callTool({ name: "job_wait", arguments: { jobId: "busy" } });
    const gate = await other.callTool({ name: "gate_wait", arguments: { jobId: "busy", key: "go" } });
    await full.call("PUT", "/api/jobs/busy", { status: "completed" }, headers);
    await answer;

    for (const { content } of [job, gate]) expect(content[0].text).to.match(/Pause for half a minute/);
    expect([job.structuredContent.status, gate.structuredContent.status]).to.deep.equal(["running", "open"]);
    await other.close();
    await full.close();
  });
});

describe("brief", () => {
  it("keeps a value that fits, and shortens any other to the limit", () => {
    const values = [
      { message: "a".repeat(1_000) },
      { message: "\u0001".repeat(100_000), name: "é".repeat(100_000), description: "😀".repeat(100_000) },
      { steps: Array.from({ length: 30_000 }, (_, i) => ({ stepKey: `${i}`, message: "m".repeat(i % 100) })) },
      { steps: Array.from({ length: 9 }, () => ({ output: { a: "o".repeat(90_000) }, message: "m".repeat(90_000) })) },
      { output: { a: Array.from({ length: 100_000 }, (_, i) => i) }, jobId: "kept" },
    ];

    const [fits, ...others] = values.map((value) => brief(value, MAX_BYTES) as object);

    expect(fits).to.equal(values[0]);
    for (const other of others) expect(sizeOf(other)).to.be.at.most(MAX_BYTES).and.above(30);
    expect(others[3]).to.deep.equal({
      output: { omitted: `${sizeOf(values[4]?.output ?? {})} bytes, which is too much for one result` },
      jobId: "kept",
    });
  });
});
