import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { createServer, request as httpsRequest, type Server } from "node:https";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { type Service, startShell } from "../../cli/service.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort, mongoUri, startRedis, type TestServer } from "../../support/servers/servers.ts";
import { CERTIFICATE, redisSpeaksTls, startTlsRedis } from "../../support/servers/tlsRedis.ts";

const run = promisify(execFile);

const PEM = readFileSync(CERTIFICATE);
const TOKEN = "the-token-of-the-API";
const HOOK_TOKEN = "the-token-of-the-hooks";
/** How long a host waits after SIGTERM before it kills a process. */
const STOPS_WITHIN_MS = 30_000;
const PATH = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
/** What a clone does not contain. */
const UNTRACKED = ["node_modules", "dist", ".git", ".tools", ".signalbox", ".env", "coverage"];

/** The commands of the Procfile, by name. */
const commands = new Map(
  readFileSync("Procfile", "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(": ") as [string, string]),
);

/** Sends everything to the port, as the router of a host does, and says in a header where the request came from. */
function startTlsProxy(port: number): Promise<Server> {
  const proxy = createServer({ key: PEM, cert: PEM }, (req, res) => {
    const headers = { ...req.headers, "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
    const options = { host: "127.0.0.1", port, path: req.url, method: req.method, headers };
    const passed = httpRequest(options, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    passed.on("error", () => res.writeHead(502).end());
    req.pipe(passed);
  });
  return new Promise((started) => proxy.listen(0, "127.0.0.1", () => started(proxy)));
}

describe("what a buildpack makes of a clone: npm ci, npm run build, npm prune, then the lines of the Procfile", function () {
  this.timeout(400_000);
  let clone: string;
  let env: Record<string, string>;
  let redis: TestServer;
  let proxy: Server;
  let services: { web: Service; worker: Service };

  /** Requests a path through the proxy. */
  const call = (
    path: string,
    method = "GET",
    body?: object,
  ): Promise<{ status: number; headers: object; text: string }> => {
    const { port } = proxy.address() as { port: number };
    const headers = {
      Authorization: `Bearer ${path.startsWith("/hooks") ? HOOK_TOKEN : TOKEN}`,
      "Content-Type": "application/json",
      Connection: "close",
    };
    return new Promise((answered, failed) => {
      const sent = httpsRequest({ host: "127.0.0.1", port, path, method, headers, ca: PEM }, async (answer) => {
        let text = "";
        for await (const chunk of answer.setEncoding("utf8")) text += chunk;
        answered({ status: answer.statusCode ?? 0, headers: answer.headers, text });
      });
      sent.on("error", failed);
      sent.end(body && JSON.stringify(body));
    });
  };

  before(async () => {
    clone = mkdtempSync(join(tmpdir(), "signalbox-buildpack-"));
    cpSync(".", clone, { recursive: true, filter: (path) => !UNTRACKED.includes(basename(path)) });
    const npm = (...args: string[]) => run("npm", args, { cwd: clone, env: { ...process.env, PATH } });
    await npm("ci", "--prefer-offline", "--no-audit", "--no-fund");
    await npm("run", "build");
    await npm("prune", "--omit=dev");

    const redisPort = await freePort();
    const speaksTls = redisSpeaksTls();
    redis = await (speaksTls ? startTlsRedis(redisPort) : startRedis([], redisPort));
    const PORT = String(await freePort());
    env = {
      ...{ PATH, PORT, DYNO: "web.1", TRUST_PROXY: "1", SIGNALBOX_API_TOKEN: TOKEN },
      MONGODB_URI: await mongoUri(`test-${randomUUID()}`),
      REDIS_URL: `${speaksTls ? "rediss" : "redis"}://127.0.0.1:${redisPort}`,
      REDIS_TLS_REJECT_UNAUTHORIZED: "false",
      SIGNALBOX_CONFIG_JSON: JSON.stringify({ hooks: { enabled: true, token: HOOK_TOKEN } }),
    };
    await run("sh", ["-c", commands.get("release") ?? ""], { cwd: clone, env });
    const start = (name: string) => startShell(commands.get(name) ?? "", env, clone);
    services = { web: start("web"), worker: start("worker") };
    await Promise.all([services.web.prints(/the API is ready/), services.worker.prints(/the worker is ready/)]);
    proxy = await startTlsProxy(Number(PORT));
  });

  after(async () => {
    proxy?.close();
    for (const service of Object.values(services ?? {})) service.kill("SIGKILL");
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
      ...{ stepName: "Write", status: "completed", progress: 100, message: "Done", output: { rows: 240 } },
      ...{ jobProgressStart: 0, jobProgressEnd: 100 },
    });

    expect([created.status, reported.status]).to.deep.equal([201, 201]);
    expect(JSON.parse((await call("/api/jobs/report-7")).text)).to.include({ status: "completed", progress: 100 });

    const { runId } = JSON.parse((await call("/hooks/agent", "POST", { message: "How is it?", deliver: false })).text);
    const read = async () => JSON.parse((await call(`/api/runs/${runId}`)).text);
    await eventually(async () => (await read()).status === "completed", "the run to be completed");
  });

  it("marks its cookies for TLS only, because the proxy says that a browser uses it", async () => {
    const { headers } = await call("/session", "POST", { token: TOKEN });

    expect(String((headers as Record<string, unknown>)["set-cookie"])).to.match(/; ?secure/i);
  });

  it("ends each process within the time that a host gives it after SIGTERM", async () => {
    const since = performance.now();
    for (const service of Object.values(services)) service.kill("SIGTERM");
    const codes = await Promise.all(Object.values(services).map(async ({ ended }) => (await ended).code));

    expect(codes).to.deep.equal([0, 0]);
    expect(performance.now() - since).to.be.lessThan(STOPS_WITHIN_MS);
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
