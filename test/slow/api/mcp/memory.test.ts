import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { connectDatabase } from "../../../../src/models/database.ts";
import { canTestLinux } from "../../../support/machine.ts";
import { peakMiB } from "../../../support/memoryLimit.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { mongoUri, redisUrl } from "../../../support/servers/servers.ts";

const STEPS = 15;
/** Close to the limit of a body. */
const OUTPUT = { text: "x".repeat(3_800_000) };
const CALLS = 20;
/** The heap of a host with 512 MB. The job is 57 MB, and 20 answers with it would be over 1,100 MB. */
const HEAP_MIB = 300;
const HEADERS = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };

describe("the web process with a small heap", function () {
  this.timeout(120_000);
  let web: Service;
  let url: string;
  before(async () => {
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    await database.prepare();
    await database.close();
    web = startProcess("test/support/processes/web.ts", {
      MONGODB_URI: uri,
      REDIS_URL: await redisUrl(),
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
    });
    ({ url } = await web.ready);
    await send("PUT", "/api/jobs/large", {});
    for (let i = 0; i < STEPS; i++)
      await send("PUT", `/api/jobs/large/steps/${i}`, { stepName: `Step ${i}`, output: OUTPUT });
  });
  after(async () => {
    if (web.child.exitCode === null) await web.stop("SIGKILL");
  });

  const send = (method: string, path: string, body: object) =>
    fetch(url + path, { method, headers: HEADERS, body: JSON.stringify(body) });

  it("answers many calls of MCP at once about a job of 57 MB, and needs no more memory for them", async () => {
    const before = canTestLinux() ? peakMiB(web.child.pid as number) : 0;
    const params = { name: "job_get", arguments: { jobId: "large", include: "steps" } };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };

    const answers = await Promise.all(
      Array.from({ length: CALLS }, async () => (await send("POST", "/mcp", call)).text()),
    );
    const batch = await send("POST", "/mcp", Array(CALLS).fill(call));

    for (const answer of answers) {
      expect(answer).to.include('"stepKey":"14"').and.include("has been shortened");
      expect(answer.length).to.be.below(45_000);
    }
    expect(batch.status).to.equal(400);
    if (canTestLinux()) expect(peakMiB(web.child.pid as number) - before).to.be.below(100);
    expect(web.child.exitCode).to.equal(null);
  });

  it("answers many reads of the whole job at once, or asks for patience, and survives them", async () => {
    const read = async () => {
      const response = await fetch(`${url}/api/jobs/large?include=steps`);
      const { length } = await response.text();
      return { status: response.status, length, retryAfter: response.headers.get("Retry-After") };
    };
    // A client that reads for more than five seconds may be cut off.
    const ends = await Promise.all(Array.from({ length: CALLS }, () => read().catch(() => null)));
    const answers = ends.filter((end) => end !== null);

    const whole = answers.filter(({ status, length }) => status === 200 && length > STEPS * OUTPUT.text.length);
    const refused = answers.filter(({ status, retryAfter }) => status === 503 && retryAfter !== null);
    expect(whole.length + refused.length, JSON.stringify(answers)).to.equal(answers.length);
    expect(whole).to.not.have.length(0);
    expect(web.child.exitCode).to.equal(null);
  });
});
