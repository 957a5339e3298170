import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { type Program, runProgram } from "../../examples/program.ts";
import { type Meet, type Relay, startRelay } from "../../examples/relay.ts";
import { eventually } from "../../support/eventually.ts";
import { useSharedApp } from "../../support/useApp.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const FILES: Record<string, { content: string | Buffer; kind: string }> = {
  "a.txt": { content: "the same words\n", kind: "text" },
  "empty.log": { content: "", kind: "empty" },
  "no-extension": { content: "plain words\n", kind: "text" },
  "picture.txt": { content: PNG, kind: "image" },
  "sub/b.txt": { content: "the same words\n", kind: "text" },
  "sub/deep/main.ts": { content: "export const one = 1;\n", kind: "code" },
  "sub/deep/rows.csv": { content: "a,b\n1,2\n", kind: "data" },
  "sub/packed.gz": { content: gzipSync("x".repeat(5_000)), kind: "archive" },
  "zeros | and [brackets].bin": { content: Buffer.alloc(200_000), kind: "binary" },
};
const PATHS = Object.keys(FILES).sort();
const RANGES = { scan: [0, 10], hash: [10, 70], classify: [70, 90], report: [90, 100] } as const;
const STEP_KEYS = Object.keys(RANGES);

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
const sizeOf = (path: string) => Buffer.byteLength(FILES[path]!.content);

describe("examples/pipeline", () => {
  const app = useSharedApp();
  let room: string;
  let folder: string;
  let jobId: string;
  const relays: Relay[] = [];
  beforeEach(() => {
    room = mkdtempSync(join(tmpdir(), "signalbox-pipeline-"));
    folder = join(room, "folder");
    jobId = randomUUID();
    for (const [path, { content }] of Object.entries(FILES)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
  });
  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.close()));
    rmSync(room, { recursive: true });
  });

  const relayed = async (meet?: Meet) => {
    const relay = await startRelay(app.url, meet);
    relays.push(relay);
    return relay;
  };
  const start = (args: string[], url = app.url): Program =>
    runProgram("examples/pipeline/main.ts", args, { SIGNALBOX_URL: url, SIGNALBOX_API_TOKEN: "" });
  const arguments_ = () => [folder, "--job", jobId, "--out", join(room, "report.md")];
  const readJob = async () => (await app.call("GET", `/api/jobs/${jobId}`)).body;
  const readStep = async (key: string) => (await app.call("GET", `/api/jobs/${jobId}/steps/${key}`)).body;
  const hashedPaths = async () => (await readStep("hash")).output.files.map(({ path }: { path: string }) => path);
  const gate = () => `/api/jobs/${jobId}/gates/publish`;
  const isAsking = () => eventually(async () => (await app.call("GET", gate())).body.status === "open", "the question");
  const isReportOn = (path: string, stepKey: string) => path === `/api/jobs/${jobId}/steps/${stepKey}`;

  it("completes the job with the content of the folder", async () => {
    symlinkSync(join(folder, "a.txt"), join(folder, "link.txt"));
    symlinkSync(room, join(folder, "link-to-folder"));

    const { code, stdout, stderr } = await start(arguments_()).ended;

    expect(code, stderr).to.equal(0);
    expect(stdout.trim().split("\n").at(-1)).to.equal(`${app.url}/jobs/${jobId}`);
    const job = await readJob();
    expect(job).to.include({ status: "completed", progress: 100 });
    expect(job.output).to.deep.include({
      files: PATHS.length,
      bytes: PATHS.reduce((sum, path) => sum + sizeOf(path), 0),
      wastedBytes: sizeOf("a.txt"),
      duplicates: 1,
      problems: 0,
      report: join(room, "report.md"),
    });
    const written = JSON.parse(readFileSync(job.output.json, "utf8"));
    const expected = PATHS.map((path) => {
      const { content, kind } = FILES[path]!;
      return { path, size: sizeOf(path), sha256: sha256(content), kind };
    });
    expect(written.all).to.deep.equal(expected);
    expect(written.duplicates[0].paths).to.deep.equal(["a.txt", "sub/b.txt"]);
    expect(written.largest[0].path).to.equal("zeros | and [brackets].bin");
    const markdown = readFileSync(job.output.report, "utf8");
    expect(markdown).to.include("zeros \\| and \\[brackets\\].bin").and.include("a.txt<br>sub/b.txt");
  });

  it("reports each step in its range, with increasing progress and no repeated report", async () => {
    const progress: number[] = [];
    const relay = await relayed(async () => {
      const { body } = await app.call("GET", `/api/jobs/${jobId}`);
      if (body.progress !== undefined) progress.push(body.progress);
      return undefined;
    });

    const { code, stderr } = await start(arguments_(), relay.url).ended;

    expect(code, stderr).to.equal(0);
    for (const [stepKey, [from, to]] of Object.entries(RANGES)) {
      const reports = relay.passed.filter(({ method, path }) => method === "PUT" && isReportOn(path, stepKey));
      const bodies = reports.map(({ body }) => body);
      expect(bodies.map((body) => [body.jobProgressStart, body.jobProgressEnd])).to.deep.equal(
        bodies.map(() => [from, to]),
      );
      expect(bodies[0]).to.include({ status: "running", progress: 0 });
      expect(bodies.at(-1)).to.include({ status: "completed", progress: 100 });
      const said = bodies.map((body) => JSON.stringify([body.progress, body.message]));
      expect(said.filter((text, i) => text === said[i - 1])).to.deep.equal([]);
      expect(await readStep(stepKey)).to.include({ status: "completed", attempts: 1 });
    }
    expect(progress).to.deep.equal([...progress].sort((a, b) => a - b));
    const { body } = await app.call("GET", `/api/jobs/${jobId}/steps`);
    expect(body.steps.map((step: { stepKey: string }) => step.stepKey)).to.deep.equal(STEP_KEYS);
  });

  it("fails once with --flaky, continues under the same key, and completes", async () => {
    const relay = await relayed();

    const { code, stdout, stderr } = await start([...arguments_(), "--flaky"], relay.url).ended;

    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^hash +failed .*on purpose/m);
    const said = relay.passed.filter(({ method, path }) => method === "PUT" && isReportOn(path, "hash"));
    expect(said.map(({ body }) => body.status)).to.include("failed");
    expect(said.some(({ body }) => body.failJob)).to.equal(false);
    expect(await readStep("hash")).to.include({ status: "completed", attempts: 2 });
    expect(await hashedPaths()).to.deep.equal(PATHS);
    expect(await readJob()).to.include({ status: "completed", progress: 100 });
  });

  it("retries a deleted file once, then lists it as a problem", async () => {
    const relay = await relayed(({ method, path }) => {
      if (method === "PUT" && isReportOn(path, "hash")) rmSync(join(folder, "a.txt"), { force: true });
      return undefined;
    });

    const { code, stderr } = await start(arguments_(), relay.url).ended;

    expect(code, stderr).to.equal(0);
    const { attempts, output } = await readStep("hash");
    expect(attempts).to.equal(2);
    expect(output.problems).to.deep.equal([{ path: "a.txt", why: "has vanished" }]);
    expect(await hashedPaths()).to.deep.equal(PATHS.filter((path) => path !== "a.txt"));
    expect((await readJob()).output).to.include({ files: PATHS.length - 1, problems: 1 });
  });

  it("continues after the orchestrator was killed, without repeating completed steps", async () => {
    const reached = Promise.withResolvers<void>();
    const relay = await relayed(({ method, path }) => {
      if (method !== "PUT" || !isReportOn(path, "classify")) return undefined;
      reached.resolve();
      return new Promise(() => {}); // The request is held until the program has been killed.
    });
    const killed = start(arguments_(), relay.url);
    await reached.promise;
    killed.kill();
    expect((await killed.ended).signal).to.equal("SIGKILL");
    const before = await readStep("hash");

    const { code, stdout, stderr } = await start(["--job", jobId]).ended;

    expect(code, stderr).to.equal(0);
    expect(stdout)
      .to.match(/^scan +completed before, skipped$/m)
      .and.match(/^hash +completed before, skipped$/m);
    expect(await readStep("hash")).to.deep.equal(before);
    expect(await readJob()).to.include({ status: "completed", progress: 100 });
    expect((await readJob()).output).to.include({ files: PATHS.length, report: join(room, "report.md") });
  });

  it("asks a person before it writes the report, and waits for the same answer after it was killed", async () => {
    const killed = start([...arguments_(), "--ask"]);
    await isAsking();
    killed.kill();
    await killed.ended;
    expect(existsSync(join(room, "report.md"))).to.equal(false);
    const { gateId, title } = (await app.call("GET", gate())).body;
    expect(title).to.equal(`Write the report on ${PATHS.length} files?`);

    const again = start(["--job", jobId]);
    await app.call("POST", `${gate()}/answer`, { action: "accept" });
    const { code, stderr } = await again.ended;

    expect(code, stderr).to.equal(0);
    expect((await app.call("GET", gate())).body.gateId).to.equal(gateId);
    expect(await readJob()).to.include({ status: "completed" });
    expect(existsSync(join(room, "report.md"))).to.equal(true);
  });

  it("fails the job without a report when the person declines", async () => {
    const program = start([...arguments_(), "--ask"]);
    await isAsking();
    await app.call("POST", `${gate()}/answer`, { action: "decline" });

    expect((await program.ended).code).to.equal(1);
    expect(await readJob()).to.include({
      status: "failed",
      message: "The report was not written: the answer was decline.",
    });
    expect(existsSync(join(room, "report.md"))).to.equal(false);
  });

  for (const force of [false, true])
    it(`stops when its job is cancelled while it asks, and asks again later (${force ? "by force" : "on request"})`, async () => {
      const first = start([...arguments_(), "--ask"]);
      await isAsking();
      await app.call("POST", `/api/jobs/${jobId}/cancel`, { reason: "The folder has moved", force });
      expect((await first.ended).stderr).to.include("Cancelled: The folder has moved\nGo on with: --job");
      expect(await readJob()).to.include({ status: "failed", message: "Cancelled: The folder has moved" });

      const second = start(["--job", jobId]);
      await isAsking();
      await app.call("POST", `${gate()}/answer`, { action: "accept" });
      expect((await second.ended).code).to.equal(0);
      expect(await readJob()).to.include({ status: "completed" });
    });

  it("waits while the service answers 503 and 429", async () => {
    const busy = [503, 429, 503];
    const relay = await relayed(({ path }) => {
      const status = isReportOn(path, "hash") ? busy.pop() : undefined;
      return status === undefined ? undefined : { status, headers: { "Retry-After": "0" } };
    });

    const { code, stderr } = await start(arguments_(), relay.url).ended;

    expect(code, stderr).to.equal(0);
    expect(busy).to.deep.equal([]);
    expect(await readJob()).to.include({ status: "completed" });
  });

  it("fails the job after a permanent error, and continues once that is fixed", async () => {
    const out = join(room, "not-there", "report.md");

    const first = await start([folder, "--job", jobId, "--out", out]).ended;

    expect(first.code).to.equal(1);
    expect(first.stderr).to.include(`--job ${jobId}`);
    expect(await readStep("report")).to.include({ status: "failed", attempts: 1 });
    const failed = await readJob();
    expect(failed).to.include({ status: "failed" });
    expect(failed.message).to.include("cannot be written");
    expect(failed.progress).to.be.lessThan(100);

    mkdirSync(dirname(out));
    const second = await start(["--job", jobId]).ended;

    expect(second.code, second.stderr).to.equal(0);
    expect(await readStep("report")).to.include({ status: "completed", attempts: 2 });
    expect(await readJob()).to.include({ status: "completed", progress: 100 });
  });

  for (const stepKey of ["scan", "hash", "classify", "report"])
    it(`stops in the step ${stepKey} when its job is cancelled, and continues later`, async () => {
      let isCancelled = false;
      const relay = await relayed(async ({ method, path }) => {
        if (method === "PUT" && isReportOn(path, stepKey) && !isCancelled) {
          isCancelled = true;
          await app.call("POST", `/api/jobs/${jobId}/cancel`, { reason: "The folder has moved" });
        }
        return undefined;
      });

      const first = await start(arguments_(), relay.url).ended;
      const cancelled = await readJob();
      const attempts = relay.passed.filter(({ path, body }) => isReportOn(path, stepKey) && body?.status === "running");
      const { code, stderr } = await start(["--job", jobId]).ended;

      expect(first.code).to.equal(1);
      expect(first.stderr).to.include("Cancelled: The folder has moved\nGo on with: --job");
      expect(cancelled).to.include({ status: "failed", message: "Cancelled: The folder has moved" });
      expect(cancelled.cancel.reason).to.equal("The folder has moved");
      expect(attempts).to.have.length(1);
      expect(code, stderr).to.equal(0);
      expect(await readJob()).to.include({ status: "completed", cancel: null });
    });

  it("completes on an empty folder", async () => {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);

    const { code, stderr } = await start(arguments_()).ended;

    expect(code, stderr).to.equal(0);
    expect((await readJob()).output).to.include({ files: 0, bytes: 0, duplicates: 0 });
  });

  it("prints one sentence if the folder is missing, and creates no job", async () => {
    const { code, stdout, stderr } = await start([join(room, "nowhere"), "--job", jobId]).ended;

    expect(code).to.equal(2);
    expect(stdout).to.equal("");
    expect(stderr).to.equal(`There is no folder ${join(room, "nowhere")}.\n`);
    expect((await app.call("GET", `/api/jobs/${jobId}`)).status).to.equal(404);
  });
});
