import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, type Server } from "node:https";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { commandLine } from "../../src/cli/start/processInfo.ts";
import { type Service, startShell } from "../cli/service.ts";
import { eventually } from "../support/eventually.ts";
import { type Lives, MINUTES, sendLives } from "../support/jobLives.ts";
import { canTestLinux } from "../support/machine.ts";
import { limitMemory, type MemoryLimit, peakMiB } from "../support/memoryLimit.ts";
import { freePort, mongoUri, startRedis, type TestServer } from "../support/servers/servers.ts";
import { callThrough, startTlsProxy } from "../support/servers/tlsProxy.ts";
import { canTestTls, startTlsRedis } from "../support/servers/tlsRedis.ts";

const run = promisify(execFile);

const TOKEN = "the-token-of-the-API";
const HOOK_TOKEN = "the-token-of-the-hooks";
/** How long a host waits after SIGTERM before it kills a process. */
const STOPS_WITHIN_MS = 30_000;
/** The memory of a small dyno. */
const DYNO_MIB = 512;
/** Without a number of minutes as many jobs as in one, as fast as they can be sent. */
const LIVES: Lives = MINUTES > 0 ? { jobs: 200 * MINUTES, perMinute: 200 } : { jobs: 200 };
const PATH = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
/** The files that a clone does not contain. */
const UNTRACKED = ["node_modules", "dist", ".git", ".tools", ".signalbox", ".env", "coverage"];

/** An agent that answers, or works for a minute if the message asks for it. */
const AGENT = {
  defaults: { runner: "command" },
  runners: { command: { command: ["sh", "-c", "if grep -c SLOWLY >&2; then exec sleep 60; fi; echo Fine."] } },
};

/** The commands of the Procfile, by name. */
const commands = new Map(
  readFileSync("Procfile", "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(": ") as [string, string]),
);

/** Returns the id of the process that npm has started. */
const nodeOf = (service: Service): number => Number(/"pid":(\d+)/.exec(service.printed())?.[1]);

describe("what a buildpack makes of a clone: npm ci, npm run build, npm prune, then the lines of the Procfile", function () {
  this.timeout(400_000 + 2 * MINUTES * 60_000);
  let clone: string;
  let env: Record<string, string>;
  let redis: TestServer;
  let proxy: Server;
  let services: { web: Service; worker: Service };
  const agent = new Agent({ keepAlive: true });
  let limits: { web?: MemoryLimit | undefined; worker?: MemoryLimit | undefined } = {};

  /** Requests a path through the proxy. */
  const call = (path: string, method = "GET", body?: object, more: Record<string, string> = {}) => {
    const Authorization = `Bearer ${path.startsWith("/hooks") ? HOOK_TOKEN : TOKEN}`;
    return callThrough(proxy, path, { method, body, agent, headers: { Authorization, ...more } });
  };

  before(async () => {
    clone = mkdtempSync(join(tmpdir(), "signalbox-buildpack-"));
    cpSync(".", clone, { recursive: true, filter: (path) => !UNTRACKED.includes(basename(path)) });
    const npm = (...args: string[]) => run("npm", args, { cwd: clone, env: { ...process.env, PATH } });
    await npm("ci", "--prefer-offline", "--no-audit", "--no-fund");
    await npm("run", "build");
    await npm("prune", "--omit=dev");

    const redisPort = await freePort();
    const speaksTls = canTestTls();
    redis = await (speaksTls ? startTlsRedis(redisPort) : startRedis([], redisPort));
    const PORT = String(await freePort());
    env = {
      PATH,
      PORT,
      DYNO: "web.1",
      TRUST_PROXY: "1",
      SIGNALBOX_API_TOKEN: TOKEN,
      MEMORY_AVAILABLE: String(DYNO_MIB), // Heroku sets it.
      MONGODB_URI: await mongoUri(`test-${randomUUID()}`),
      REDIS_URL: `${speaksTls ? "rediss" : "redis"}://127.0.0.1:${redisPort}`,
      REDIS_TLS_REJECT_UNAUTHORIZED: "false",
      SIGNALBOX_CONFIG_JSON: JSON.stringify({
        hooks: { enabled: true, token: HOOK_TOKEN },
        agents: AGENT,
        ...(MINUTES === 0 && { worker: { shutdownSeconds: 5 } }), // A run without a number of minutes does not wait for the usual 25 s.
      }),
    };
    await run("sh", ["-c", commands.get("release") ?? ""], { cwd: clone, env });
    limits = { web: limitMemory(DYNO_MIB, "web"), worker: limitMemory(DYNO_MIB, "worker") };
    const start = (name: keyof typeof limits) => startShell(commands.get(name) ?? "", env, clone, limits[name]?.enter);
    services = { web: start("web"), worker: start("worker") };
    await Promise.all([services.web.prints(/the API is ready/), services.worker.prints(/the worker is ready/)]);
    proxy = await startTlsProxy(Number(PORT));
  });

  after(async () => {
    agent.destroy();
    proxy?.close();
    for (const service of Object.values(services ?? {})) service.kill("SIGKILL");
    for (const limit of Object.values(limits)) await limit?.remove();
    await redis?.remove();
    rmSync(clone, { recursive: true, force: true });
  });

  it("serves the dashboard and the guide", async () => {
    const [page, guide] = [await call("/"), await call("/guide/")];

    expect([page.status, guide.status]).to.deep.equal([200, 200]);
    expect(page.text).to.include("/assets/");
    expect(services.web.printed()).to.not.include("not built");
  });

  it("tracks a job, and runs a hook in the worker", async () => {
    const created = await call("/api/jobs/report-7", "PUT", { name: "Monthly report" });
    const reported = await call("/api/jobs/report-7/steps/write", "PUT", {
      stepName: "Write",
      status: "completed",
      progress: 100,
      message: "Done",
      output: { rows: 240 },
      jobProgressStart: 0,
      jobProgressEnd: 100,
    });

    expect([created.status, reported.status]).to.deep.equal([201, 201]);
    expect(JSON.parse((await call("/api/jobs/report-7")).text)).to.include({ status: "completed", progress: 100 });

    const { runId } = JSON.parse((await call("/hooks/agent", "POST", { message: "How is it?", deliver: false })).text);
    const read = async () => JSON.parse((await call(`/api/runs/${runId}`)).text);
    await eventually(async () => (await read()).status === "completed", "the run to be completed");
    expect(await read()).to.include({ reply: "Fine." });
  });

  if (canTestLinux())
    it("keeps web and worker within the memory of a small dyno, npm included, under whole lives of jobs", async () => {
      await sendLives(call, LIVES);
      const peaks = Object.values(services).map((service) => {
        const pid = nodeOf(service);
        return { options: commandLine(pid), npm: peakMiB(service.pid), node: peakMiB(pid) };
      });
      if (MINUTES > 0) console.log(peaks);

      for (const { options, npm, node } of peaks) {
        expect(options).to.include("--max-old-space-size=307");
        expect(npm + node).to.be.lessThan(DYNO_MIB);
      }
    });

  it("holds a request that waits for the reply of an agent, and answers it when the worker has it", async () => {
    const body = { message: "How is it?", deliver: false };
    const { status, headers, text } = await call("/hooks/agent", "POST", body, { Prefer: "wait=30" });

    expect([status, headers["preference-applied"]]).to.deep.equal([200, "wait=30"]);
    expect(JSON.parse(text).run).to.include({ status: "completed", reply: "Fine." });
  });

  it("marks its cookies for TLS only, because the proxy says that a browser uses it", async () => {
    const { headers } = await call("/session", "POST", { token: TOKEN });

    expect(String(headers["set-cookie"])).to.match(/; ?secure/i);
  });

  it("listens where the router of the host reaches it", () => {
    expect(services.web.printed()).to.include(`"url":"http://0.0.0.0:${env.PORT}"`);
  });

  it("ends within the time that a host gives it after SIGTERM, with a stream and an agent at work", async () => {
    const { runId } = JSON.parse((await call("/hooks/agent", "POST", { message: "SLOWLY", deliver: false })).text);
    const read = async () => JSON.parse((await call(`/api/runs/${runId}`)).text);
    await eventually(async () => (await read()).status === "running", "the run to start");
    const stream = call("/api/events");
    await eventually(async () => /^signalbox_event_streams 1$/m.test((await call("/metrics")).text), "the stream");
    const since = performance.now();
    for (const service of Object.values(services)) {
      process.kill(nodeOf(service), "SIGTERM"); // Heroku sends it to every process.
      service.kill("SIGTERM");
    }
    const codes = await Promise.all(Object.values(services).map(async ({ ended }) => (await ended).code));

    expect(codes).to.deep.equal([0, 0]);
    expect(performance.now() - since).to.be.lessThan(STOPS_WITHIN_MS);
    expect((await stream).status).to.equal(200);
  });

  it("says in its log and on the page that the dashboard is missing where nothing was built, and serves the API", async () => {
    rmSync(join(clone, "dist"), { recursive: true });
    services.web = startShell(commands.get("web") ?? "", env, clone);
    await services.web.prints(/the API is ready/);
    const [page, job] = [await call("/"), await call("/api/jobs/report-7")];
    services.web.kill("SIGTERM");
    await services.web.ended;

    expect(services.web.printed()).to.include("the dashboard is not built: run `npm run build`");
    expect([page.status, job.status]).to.deep.equal([503, 200]);
    expect(page.text).to.include("npm run build");
  });
});
