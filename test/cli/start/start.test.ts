import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runInProcess } from "../../support/cli.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort, mongoUri, redisUrl } from "../../support/servers/servers.ts";
import { isRunning, mongodPid, processesOf, runCli, type Service } from "../service.ts";

const allEnd = (dataDir: string) =>
  eventually(() => !existsSync(dataDir) || !Object.values(processesOf(dataDir)).some(Boolean), "all to end");

describe("signalbox start with embedded servers", () => {
  let home: string;
  let dataDir: string;
  let file: string;
  /** The running instance. The tests start one after another with the same data. */
  let current: Service | undefined;
  let hasJob = false;

  before(() => {
    home = mkdtempSync(join(tmpdir(), "signalbox-start-"));
    dataDir = join(home, "data");
    file = join(home, "signalbox.json5");
    writeToken("the-first-token-of-hooks");
  });

  after(async () => {
    await stop();
    await allEnd(dataDir);
    rmSync(home, { recursive: true, force: true });
  });

  const writeToken = (token: string) => writeFileSync(file, `{ hooks: { enabled: true, token: "${token}" } }`);
  const start = (): Service => {
    current = runCli("start", { SIGNALBOX_DATA_DIR: dataDir, SIGNALBOX_CONFIG: file });
    return current;
  };
  const stop = async () => {
    current?.kill("SIGTERM");
    await current?.ended;
    current = undefined;
  };
  /** Returns the running instance, or a new one. Its data contain a job. */
  const running = async () => {
    const service = current ?? start();
    const url = await service.ready();
    if (!hasJob) await putJob(url);
    hasJob = true;
    return { service, url };
  };
  /** Starts and stops an instance, so that its data exist. */
  const haveRun = async () => {
    if (!hasJob) await running();
    await stop();
  };
  const putJob = async (url: string) => {
    const answer = await fetch(`${url}/api/jobs/report`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "Report" }),
    });
    expect(answer.status).to.equal(201);
  };
  const getJob = async (url: string) => (await fetch(`${url}/api/jobs/report`)).status;

  it("prints all addresses, and makes an open data directory private", async () => {
    mkdirSync(dataDir, { recursive: true });
    for (const name of ["redis.log", "mongod.log", "mongodb.port"]) writeFileSync(join(dataDir, name), "");
    for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o644);
    chmodSync(dataDir, 0o755);
    const { service, url } = await running();

    expect(service.printed()).to.match(/^Starting MongoDB and Redis …$/m);
    expect(service.printed()).to.include(`\n  Open ${url}\n\n  Guide     ${url}/guide/\n  Hooks     `);
    expect(service.printed()).to.include(`\n  Data      ${dataDir}\n`);
    expect(service.printed()).to.not.include("Warning");
    expect(service.printed()).to.match(/MongoDB +embedded .*MONGODB_URI/);
    expect(service.printed()).to.match(/Redis +embedded .*REDIS_URL/);
    expect(service.printed()).to.include("\n  Reload    npx signalbox reload ");
    const [block = ""] = /Signalbox is ready\.[\s\S]*?Ctrl-C/.exec(service.printed()) ?? [];
    expect(block.split("\n").filter((line) => line.length > 80 && !line.includes(dataDir))).to.deep.equal([]);
    expect(statSync(dataDir).mode & 0o777).to.equal(0o700);
    expect(readFileSync(join(dataDir, "redis.conf"), "utf8")).to.match(/requirepass \S{30}/);
    for (const name of readdirSync(dataDir)) expect(statSync(join(dataDir, name)).mode & 0o077, name).to.equal(0);
  });

  it("serves the metrics of web and worker together, each metric once", async () => {
    const { url } = await running();

    const text = await (await fetch(`${url}/metrics`)).text();

    expect(text).to.match(/^signalbox_jobs\{state="running"\} \d+$/m);
    expect(text).to.match(/^signalbox_runs_total\{outcome="failed",code="agent_failed"\} 0$/m);
    expect(text).to.match(/^signalbox_deliveries_total\{channel="webhook",outcome="failed"\} 0$/m);
    const types = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    expect(types).to.have.length(new Set(types).size);
    expect(text.match(/^signalbox_build_info\{/gm)).to.have.length(1);
  });

  it("stores its log, which `signalbox logs` prints", async () => {
    const { url } = await running();
    await fetch(`${url}/api/jobs/not-there`);
    const read = () => runInProcess(["logs"], { SIGNALBOX_DATA_DIR: dataDir, SIGNALBOX_CONFIG: file });

    await eventually(async () => (await read()).stdout.includes("/api/jobs/not-there"), "the request in the log");

    const { stdout, stderr } = await read();
    const processes = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).process);
    expect([...new Set(processes)].sort()).to.deep.equal(["web", "worker"]);
    expect(stderr).to.equal("");
  });

  it("rejects a data directory that another instance uses, and names that instance", async () => {
    const { service, url } = await running();
    const { code, stderr } = await runCli("start", { SIGNALBOX_DATA_DIR: dataDir }).ended;

    expect(code).to.equal(1);
    expect(stderr).to.match(
      new RegExp(`^The data directory ${dataDir} is in use by .*process ${service.pid}, ${url}\\).*\n$`),
    );
    expect(await getJob(url)).to.equal(200);
  });

  it("stops web, worker, Redis, MongoDB in this order on Ctrl-C", async () => {
    const { service } = await running();
    const { web, worker, redis, mongod } = processesOf(dataDir);
    const order: string[] = [];
    const watching = Promise.all(
      Object.entries({ web, worker, redis, mongod }).map(async ([name, pid]) => {
        await eventually(() => !isRunning(pid), `${name} to end`);
        order.push(name);
      }),
    );
    service.kill("SIGINT");
    service.kill("SIGINT"); // the terminal sends one, npm passes one on
    current = undefined;
    await watching;
    const { code, stderr } = await service.ended;

    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    expect(order).to.deep.equal(["web", "worker", "redis", "mongod"]);
    expect(existsSync(join(dataDir, "instance.json"))).to.equal(false);
  });

  it("uses another port for MongoDB if the previous one is taken, and keeps the data", async () => {
    await haveRun();
    const port = Number(readFileSync(join(dataDir, "mongodb.port"), "utf8"));
    const squatter = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
    await once(squatter, "listening");
    const url = await start()
      .ready()
      .finally(() => squatter.close());

    expect(await getJob(url)).to.equal(200);
    expect(Number(readFileSync(join(dataDir, "mongodb.port"), "utf8"))).to.not.equal(port);
  });

  it("reloads a changed configuration on SIGHUP in web and worker, and explains a rejected one", async () => {
    const { service, url } = await running();
    const wake = async (token: string) => {
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      return (await fetch(`${url}/hooks/wake`, { method: "POST", headers, body: '{ "text": "x" }' })).status;
    };

    writeToken("the-second-token-of-hooks");
    service.kill("SIGHUP");
    await eventually(async () => (await wake("the-second-token-of-hooks")) === 200, "the new token to be taken");
    writeToken("short");
    service.kill("SIGHUP");
    await eventually(
      () => service.printed().includes("The previous configuration stays in effect."),
      "it to be refused",
    );
    const statuses = [await wake("the-first-token-of-hooks"), await wake("the-second-token-of-hooks")];
    writeToken("the-first-token-of-hooks");

    expect(statuses).to.deep.equal([401, 200]);
    expect(service.printed()).to.match(/hooks\.token must have at least 16 characters/);
  });

  it("reload applies a changed configuration to the instance of the data directory, and refuses a faulty one", async () => {
    const { service, url } = await running();
    const env = { SIGNALBOX_DATA_DIR: dataDir, SIGNALBOX_CONFIG: file };
    const wake = async () => {
      const headers = { Authorization: "Bearer the-third-token-of-hooks", "Content-Type": "application/json" };
      return (await fetch(`${url}/hooks/wake`, { method: "POST", headers, body: '{ "text": "x" }' })).status;
    };

    writeToken("the-third-token-of-hooks");
    const reloaded = await runInProcess(["reload"], env);
    await eventually(async () => (await wake()) === 200, "the new token to be taken");
    writeToken("short");
    const refused = await runInProcess(["reload"], env);
    writeToken("the-first-token-of-hooks");

    expect(reloaded).to.deep.equal({
      code: 0,
      stdout: `The instance at ${url} (process ${service.pid}) reads its configuration again.\n`,
      stderr: "",
    });
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/hooks\.token must have at least 16 characters/);
    expect(await wake()).to.equal(200);
  });

  it("reload explains that no instance runs in the data directory", async () => {
    const { code, stderr } = await runInProcess(["reload"], { SIGNALBOX_DATA_DIR: join(home, "none") });

    expect(code).to.equal(1);
    expect(stderr).to.match(/^No instance with an embedded server runs in \S+\/none: set SIGNALBOX_DATA_DIR .*\n$/);
  });

  it("restarts a web process, a worker and servers that died", async () => {
    const { service, url } = await running();
    const before = processesOf(dataDir);
    const server = mongodPid(dataDir);
    for (const pid of [before.web, before.worker, before.redis, server]) process.kill(pid, "SIGKILL");

    await eventually(() => {
      const now = processesOf(dataDir);
      return (["web", "worker", "redis", "mongod"] as const).every((name) => now[name] && now[name] !== before[name]);
    }, "all to run again");
    expect(await eventually(async () => (await getJob(url).catch(() => 0)) === 200, "an answer")).to.equal(true);
    expect(service.printed()).to.match(/^web ended unexpectedly \(SIGKILL\)\. It is restarted\.$/m);
  });

  it("keeps its data even after a kill -9 and an immediate start", async () => {
    const { service } = await running();
    service.kill("SIGKILL");
    const url = await start().ready();

    expect(await getJob(url)).to.equal(200);
  });
});

describe("signalbox start that fails", () => {
  let home: string;
  let dataDir: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "signalbox-start-"));
    dataDir = join(home, "data");
  });

  afterEach(async () => {
    await allEnd(dataDir);
    rmSync(home, { recursive: true, force: true });
  });

  const start = (env: Record<string, string> = {}) => runCli("start", { SIGNALBOX_DATA_DIR: dataDir, ...env });

  it("exits with one sentence if the port is taken, before it starts anything", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const { code, stdout, stderr } = await start({ PORT: String(port) }).ended;
    taken.close();

    expect([code, stdout]).to.deep.equal([1, ""]);
    expect(stderr).to.match(new RegExp(`^[^\n]*${port}[^\n]*\n$`));
    expect(existsSync(join(dataDir, "instance.json"))).to.equal(false);
  });

  it("exits with one sentence if a configured server cannot be reached", async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    const uri = await mongoUri("start");
    const [mongodb, redis] = await Promise.all([
      start({ MONGODB_URI: `mongodb://user:secret@${nobody}/x`, REDIS_URL: await redisUrl() }).ended,
      start({ MONGODB_URI: uri, REDIS_URL: `redis://:secret@${nobody}` }).ended,
    ]);

    expect(mongodb.code).to.equal(1);
    expect(mongodb.stderr).to.match(
      new RegExp(`^MongoDB at ${nobody} cannot be used \\(ECONNREFUSED\\): start it, .*\n$`),
    );
    expect(redis.code).to.equal(1);
    expect(redis.stderr).to.match(new RegExp(`^Redis at ${nobody} cannot be used \\(ECONNREFUSED\\): start it, .*\n$`));
    expect(mongodb.stderr + redis.stderr).to.not.include("secret");
  });

  it("exits with one sentence if the data directory cannot be created", async () => {
    writeFileSync(join(home, "file"), "");
    const { code, stderr } = await start({ SIGNALBOX_DATA_DIR: join(home, "file", "data") }).ended;

    expect(code).to.equal(1);
    expect(stderr).to.match(/^The data directory \S+\/file\/data cannot be used \(ENOTDIR\): make it writable.*\n$/);
  });

  it("prints all problems of the configuration without a stack", async () => {
    const { code, stderr } = await start({ PORT: "99999", LOG_LEVEL: "loud" }).ended;

    expect(code).to.equal(1);
    expect(stderr)
      .to.match(/PORT/)
      .and.match(/LOG_LEVEL/)
      .and.not.match(/^ {4}at /m);
  });
});

describe("signalbox release", () => {
  it("creates the indexes", async () => {
    const { code, stderr } = await runInProcess(["release"], { MONGODB_URI: await mongoUri("release") });

    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
  });

  it("requires a configured MongoDB", async () => {
    const { code, stderr } = await runInProcess(["release"], {});

    expect(code).to.equal(1);
    expect(stderr).to.match(/^MONGODB_URI is not set: .*\n$/);
  });
});
