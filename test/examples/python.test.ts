import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createClient } from "../../src/client/client.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { freePort } from "../support/servers/servers.ts";
import { type Meet, type Relay, startRelay } from "./relay.ts";

const LINES = 400;

describe("examples/python", () => {
  let app: TestApp;
  let room: string;
  let file: string;
  const relays: Relay[] = [];
  before(async () => {
    app = await startApp();
    room = mkdtempSync(join(tmpdir(), "signalbox-python-"));
    file = join(room, "words.txt");
    writeFileSync(file, "one two Two\n".repeat(LINES));
  });
  afterEach(() => Promise.all(relays.splice(0).map((relay) => relay.close())));
  after(async () => {
    await app.close();
    rmSync(room, { recursive: true });
  });

  const run = async (url: string, { path = file, step }: { path?: string; step?: object } = {}) => {
    const child = spawn("python3", ["-B", "examples/python/count_words.py", path], {
      env: {
        ...process.env,
        no_proxy: "*",
        PYTHONPATH: "clients/python/src",
        SIGNALBOX_URL: url,
        SIGNALBOX_STEP: step ? JSON.stringify(step) : "",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { code, stdout, stderr };
  };
  const relayed = async (meet?: Meet) => {
    const relay = await startRelay(app.url, meet);
    relays.push(relay);
    return relay;
  };
  const theJob = async () => (await app.call("GET", "/api/jobs?metadata.example=python&limit=1")).body.jobs[0];

  it("completes a job of one step with few reports, none of them repeated", async () => {
    const relay = await relayed();

    const { code, stderr } = await run(relay.url);

    expect(code, stderr).to.equal(0);
    const { jobId, ...job } = await theJob();
    expect(job).to.deep.include({ status: "completed", progress: 100, message: `${3 * LINES} words` });
    expect(job.output).to.deep.equal({
      lines: LINES,
      words: 3 * LINES,
      most: [
        ["two", 800],
        ["one", 400],
      ],
    });
    const bodies = relay.passed.filter(({ path }) => path.endsWith("/steps/count")).map(({ body }) => body);
    expect(bodies.length).to.be.within(2, 23);
    expect(bodies[0]).to.include({ status: "running", progress: 0 });
    expect(bodies.at(-1)).to.include({ status: "completed", progress: 100 });
    const said = bodies.map(({ progress, message }) => `${progress} ${message}`);
    expect(said).to.deep.equal([...new Set(said)]);
    expect((await app.call("GET", `/api/jobs/${jobId}/steps/count`)).body).to.include({ attempts: 1 });
  });

  it("retries while the service answers 503, 429 and 500, or not at all", async () => {
    const port = await freePort();
    const away = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
    const running = run(`http://127.0.0.1:${port}`);
    await once(away, "connection");
    away.close();
    await once(away, "close");
    const busy = [503, 429, 500];
    const other = await startApp({ port });
    const relay = await relayed(() => {
      const status = busy.pop();
      return status === undefined ? undefined : { status, headers: { "Retry-After": "0" } };
    });

    const [late, patient] = [await running, await run(relay.url)];

    await other.close();
    expect(late.code, late.stderr).to.equal(0);
    expect(patient.code, patient.stderr).to.equal(0);
    expect(busy).to.deep.equal([]);
    expect(await theJob()).to.include({ status: "completed" });
  });

  it("reports on a step that an orchestrator in another language has assigned", async () => {
    const client = createClient({ url: app.url });
    const job = client.job("a job/of ours ü");
    await job.create();
    const step = job.step("count 1/2", { name: "Count", from: 20, to: 60 });

    const { code, stderr } = await run(app.url, { step: step.toJSON() });

    expect(code, stderr).to.equal(0);
    expect(await client.jobs.get(job.jobId)).to.include({ status: "running", progress: 60 });
    expect(await client.jobs.step(job.jobId, "count 1/2")).to.include({ status: "completed", stepName: "Count" });
  });

  it("fails the job if the file cannot be read, and exits if the job does not exist", async () => {
    const missing = await run(app.url, { path: join(room, "nothing.txt") });
    const step = { jobId: "no such job", stepKey: "s", stepName: "S" };
    const refused = await run(app.url, { step });

    expect(missing.code).to.equal(1);
    expect(await theJob()).to.include({
      status: "failed",
      message: "nothing.txt cannot be read: No such file or directory",
    });
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include("(job_not_found)").and.not.include("Traceback");
  });
});
