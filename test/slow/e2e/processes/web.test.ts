import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { startWebProcess } from "../../../../src/api/process.ts";
import { connectDatabase } from "../../../../src/models/database.ts";
import { readJob } from "../../../../src/models/jobs/read/readJobs.ts";
import { openStores } from "../../../../src/models/stores.ts";
import { systemClock } from "../../../../src/shared/clock.ts";
import { Lifecycle, StartError } from "../../../../src/shared/process/lifecycle.ts";
import { answerMetricsRequests, OFFER } from "../../../../src/shared/process/workerMetrics.ts";
import { startApp } from "../../../support/app.ts";
import { openEvents } from "../../../support/eventSource.ts";
import { eventually } from "../../../support/eventually.ts";
import { freeze } from "../../../support/freeze.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { Relay } from "../../../support/servers/relay.ts";
import { canConnect, freePort, mongoUri, redisUrl, startMongod } from "../../../support/servers/servers.ts";
import { FAULT_TIMINGS } from "../../../support/timings.ts";

const WEB = "test/support/processes/web.ts";
/** The entry point with the production time constants. */
const MAIN = "src/api/main.ts";

async function environment(): Promise<Record<string, string>> {
  const uri = await mongoUri(`test-${randomUUID()}`);
  const database = await connectDatabase(uri);
  await database.prepare();
  await database.close();
  return { MONGODB_URI: uri, REDIS_URL: await redisUrl() };
}

const put = (url: string, body: object = {}) =>
  fetch(url, { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

describe("the web process", () => {
  let env: Record<string, string>;
  const running: Service[] = [];
  before(async () => {
    env = await environment();
  });
  afterEach(async () => {
    for (const service of running.splice(0)) if (service.child.exitCode === null) await service.stop("SIGKILL");
  });
  const web = (more: Record<string, string> = {}, main = WEB) => {
    const service = startProcess(main, { ...env, ...more });
    running.push(service);
    return service;
  };

  it("responds to a pending request after SIGTERM, accepts no new one, and exits with 0", async () => {
    const service = web();
    const { url } = await service.ready;
    const port = Number(new URL(url).port);
    const socket = connect(port, "127.0.0.1");
    const body = '{"name":"kept"}';
    const head = `PUT /api/jobs/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head + body.slice(0, 5));
    await eventually(async () => (await fetch(`${url}/healthz`)).ok, "the process to have read the partial request");

    service.child.kill("SIGTERM");
    await eventually(async () => !(await canConnect(port)), "the port to be closed");
    socket.write(body.slice(5));
    const answer = await text(socket);

    expect(answer)
      .to.match(/^HTTP\/1\.1 201/)
      .and.to.match(/connection: close/i);
    expect(await service.ended).to.equal(0);
    expect(service.output().stderr).to.equal("");
  });

  it("answers requests that wait after SIGTERM, with the state of that moment, and exits with 0", async () => {
    const service = web();
    const { url } = await service.ready;
    await put(`${url}/api/jobs/awaited`);
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname));
    const answers = sockets.map((socket) => {
      socket.write(`GET /api/jobs/awaited HTTP/1.1\r\nHost: ${hostname}\r\nPrefer: wait=60\r\n\r\n`);
      return text(socket);
    });
    const connections = async () =>
      Number(/^signalbox_http_connections (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
    await eventually(async () => (await connections()) > sockets.length, "the connections");
    const read = await fetch(`${url}/api/jobs/awaited`); // the process has read the requests that came before this one

    service.child.kill("SIGTERM");
    const received = await Promise.all(answers);

    expect(read.status).to.equal(200);
    for (const answer of received) {
      expect(answer)
        .to.match(/^HTTP\/1\.1 200/)
        .and.match(/connection: close/i)
        .and.include('"status":"running"');
    }
    expect(await service.ended).to.equal(0);
  });

  it("drops no accepted request when it is stopped under load", async () => {
    const service = web({}, MAIN); // The production pause before idle connections are closed saves these requests.
    const { url } = await service.ready;
    await put(`${url}/api/jobs/load`);
    const answered = new Array<number>(20).fill(0);
    const refusals: number[] = [];
    const client = async (_: unknown, i: number) => {
      for (let message = 1; ; message++) {
        const report = { stepName: "S", message: String(message) };
        const response = await put(`${url}/api/jobs/load/steps/s${i}`, report).catch(() => null);
        // The port is closed, or the connection was closed before the request was read: nothing of it may be stored.
        if (response === null) return;
        await response.text();
        if (!response.ok) refusals.push(response.status);
        answered[i] = message;
      }
    };
    const clients = Promise.all(Array.from(answered, client));
    await eventually(() => answered.every((count) => count > 10), "the load to run");

    const code = await service.stop();
    await clients;

    expect(code).to.equal(0);
    expect(refusals).to.deep.equal([]);
    expect(service.output().stdout).to.not.include('"aborted":true');
    const database = await connectDatabase(env.MONGODB_URI as string);
    const stores = openStores(database, systemClock, { staleAfterSeconds: 900 });
    const { steps = [] } = await readJob(stores, "load", { withSteps: true });
    await database.close();
    const stored = new Map(steps.map(({ stepKey, message }) => [stepKey, Number(message)]));
    expect(answered.map((_, i) => stored.get(`s${i}`))).to.deep.equal(answered);
  });

  it("has stored every write that it acknowledged when it is stopped with pending batches of reports and new jobs", async () => {
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    await database.prepare();
    const service = web({ MONGODB_URI: uri });
    const { url } = await service.ready;
    const answered = new Map<string, number>();
    let count = 0;
    const client = async (_: unknown, i: number) => {
      const jobId = `job-${i}`;
      for (let progress = 0; progress <= 99; progress++) {
        const job = await put(`${url}/api/jobs/${jobId}`, { name: `at ${progress}` }).catch(() => null);
        const body = { stepName: "S", progress, jobProgressStart: 0, jobProgressEnd: 100 };
        const step = job?.ok ? await put(`${url}/api/jobs/${jobId}/steps/s`, body).catch(() => null) : null;
        if (!step?.ok) return;
        answered.set(jobId, progress);
        count++;
      }
    };

    const clients = Promise.all(Array.from({ length: 60 }, client));
    await eventually(() => count > 300, "batches to be under way");
    service.child.kill("SIGTERM");
    await clients;
    const code = await service.ended;

    expect(code).to.equal(0);
    expect([...answered.values()].some((progress) => progress < 99)).to.equal(true);
    const stores = openStores(database, systemClock, { staleAfterSeconds: 900 });
    for (const [jobId, progress] of answered) {
      const job = await readJob(stores, jobId, { stepKey: "s" });
      expect(job.progress).to.be.at.least(progress);
      expect(job.step?.progress).to.be.at.least(progress);
    }
    await database.close();
  });

  it("stops when its parent process has exited", async () => {
    const service = web();
    await service.ready;

    service.child.disconnect();

    expect(await service.ended).to.equal(0);
  });

  const refused: [string, () => Promise<Record<string, string>>, RegExp][] = [
    [
      "MongoDB is not configured",
      async () => ({ MONGODB_URI: "" }),
      /^MONGODB_URI \(mongodb\.uri\) is not set: .*npm start/,
    ],
    ["Redis is not configured", async () => ({ REDIS_URL: "" }), /^REDIS_URL \(redis\.url\) is not set: .*npm start/],
    [
      "MongoDB does not answer",
      async () => ({ MONGODB_URI: `mongodb://user:secret@127.0.0.1:${await freePort()}/x` }),
      /^MongoDB at 127\.0\.0\.1:\d+ cannot be used \(ECONNREFUSED\): start it, or correct MONGODB_URI/,
    ],
    [
      "Redis does not answer",
      async () => ({ REDIS_URL: `redis://:secret@127.0.0.1:${await freePort()}` }),
      /^Redis at 127\.0\.0\.1:\d+ cannot be used \(ECONNREFUSED\): start it, or correct REDIS_URL/,
    ],
    [
      "the indexes are not there",
      async () => ({ MONGODB_URI: await mongoUri(`test-${randomUUID()}`) }),
      /^MongoDB lacks indexes on jobs, payloads, .*: run `npm run release` once/,
    ],
    [
      "the address is not this machine's",
      async () => ({ HOST: "192.0.2.1", ...OPEN }),
      /^The address 192\.0\.2\.1:0 cannot be bound/,
    ],
    [
      "the bind is open to others",
      async () => ({ HOST: "0.0.0.0" }),
      /^The configuration .* is not usable:\n {2}- server\.host is 0\.0\.0\.0/,
    ],
    [
      "the configuration file is missing",
      async () => ({ SIGNALBOX_CONFIG: "/nowhere/x.json5" }),
      /SIGNALBOX_CONFIG names a file that does not exist/,
    ],
    [
      "the configuration is wrong",
      async () => ({ PORT: "x", LOG_LEVEL: "y" }),
      /is not usable:\n {2}- PORT .*\n {2}- LOG_LEVEL/,
    ],
  ];
  const OPEN = { SIGNALBOX_CONFIG: "test/e2e/processes/open.json5" };
  for (const [title, more, sentence] of refused) {
    it(`does not start, and prints in one sentence that ${title}`, async () => {
      const lifecycle = new Lifecycle();

      const variables = { HOST: "127.0.0.1", PORT: "0", LOG_LEVEL: "silent", ...env, ...(await more()) };
      const thrown = await startWebProcess(lifecycle, variables, FAULT_TIMINGS).catch((error: unknown) => error);
      await lifecycle.close();

      expect(thrown).to.be.instanceOf(StartError); // The process prints only its message.
      expect((thrown as StartError).message)
        .to.match(sentence)
        .and.not.match(/^ +at /m)
        .and.not.include("secret");
    });
  }

  it("does not start when its port is in use, prints that in one sentence, and exits with 1", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;

    const service = web({ PORT: String(port) });

    expect(await service.ended).to.equal(1);
    expect(service.output().stderr).to.equal(
      `Port ${port} on 127.0.0.1 is taken: stop the program that uses it, or set PORT to another (server.port).\n`,
    );
    other.close();
  });
});

/** Counts the processes that became ready, including replaced ones. */
const readyPids = (service: Service) =>
  [...service.output().stdout.matchAll(/"pid":(\d+),"url".*is ready/g)].map(([, pid]) => Number(pid));

/** Starts two processes that share a port. The tests of a suite share them and work in any order. */
function useTwoProcesses(more: () => Promise<Record<string, string>>): { service: Service; url: string } {
  const shared = {} as { service: Service; url: string };
  before(async () => {
    const given = { ...(await environment()), WEB_CONCURRENCY: "2", LOG_LEVEL: "info", ...(await more()) };
    shared.service = startProcess(WEB, given);
    shared.url = (await shared.service.ready).url;
    await eventually(() => readyPids(shared.service).length === 2, "both processes to be ready");
  });
  after(() => shared.service.stop("SIGKILL"));
  return shared;
}

/** Returns the running processes. */
const runningPids = (service: Service) => readyPids(service).filter(isRunning);

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("WEB_CONCURRENCY processes", () => {
  const shared = useTwoProcesses(async () => ({}));
  /** Uses a new connection: a reused one would reach the same process again. */
  const fetchMetrics = async () => {
    const [answer] = (await once(get(`${shared.url}/metrics`, { agent: false }), "response")) as [IncomingMessage];
    return { status: answer.statusCode, text: await text(answer) };
  };
  const readMetrics = async () => (await fetchMetrics()).text;
  const created = (metrics: string) =>
    Number(/^signalbox_jobs_total\{outcome="created"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);

  it("answer /metrics with 503 while one of them hangs, and with all metrics once it continues", async () => {
    const { service, url } = shared;
    const before = created(await readMetrics());
    await put(`${url}/api/jobs/${randomUUID()}`);
    const [pid = 0] = runningPids(service);

    await freeze(pid);
    const answers = [fetchMetrics(), fetchMetrics()]; // One of them may reach the process that hangs.
    const answer = await Promise.any(answers).finally(() => process.kill(pid, "SIGCONT"));
    await Promise.all(answers);

    expect(answer.status).to.equal(503);
    expect(JSON.parse(answer.text)).to.include({ code: "unavailable" });
    expect(created(await readMetrics())).to.equal(before + 1);
  });

  it("include the metrics of the worker beside them once the parent process offers them", async () => {
    const { child } = shared.service;
    const text = "# TYPE signalbox_runs_total counter\nsignalbox_runs_total 7\n";
    answerMetricsRequests(child, async () => text);
    child.send(OFFER);

    const metrics = await eventually(async () => {
      const seen = await readMetrics();
      return seen.includes("signalbox_runs_total") && seen;
    }, "the worker's metrics");

    expect(metrics).to.match(/^signalbox_runs_total 7$/m);
    expect(metrics).to.match(/^signalbox_jobs\{state="running"\} \d+$/m);
    expect(metrics.match(/^signalbox_build_info\{/gm)).to.have.length(1);
  });

  it("share the port, sum up their metrics, and are replaced when they die", async () => {
    const { service, url } = shared;
    const before = created(await readMetrics());
    for (let i = 0; i < 20; i++) await (await put(`${url}/api/jobs/c${i}`)).text();

    const after = created(await readMetrics());
    const readyBefore = readyPids(service).length;
    const [victim = 0] = runningPids(service);
    process.kill(victim, "SIGKILL");
    await eventually(() => readyPids(service).length === readyBefore + 1, "another process to be ready");

    expect(after).to.equal(before + 20);
    expect((await fetch(`${url}/api/jobs/c1`)).status).to.equal(200);
  });

  it("send live events of every process to the clients of each, end their streams when they stop, and exit with 0", async () => {
    const { service, url } = shared;
    const streams = await Promise.all(Array.from({ length: 12 }, () => openEvents(`${url}/api/events?topic=jobs`)));
    const ids = Array.from({ length: 12 }, (_, i) => `job-${i}`);

    await Promise.all(ids.map(async (id) => (await put(`${url}/api/jobs/${id}`)).text()));
    for (const stream of streams) {
      await eventually(() => ids.every((id) => stream.events.some(({ data }) => data.jobId === id)), "all jobs");
    }
    const metrics = await readMetrics();
    const code = await service.stop();

    expect(metrics).to.match(/^signalbox_event_streams(\{.*\})? 12$/m);
    expect(code).to.equal(0);
    await eventually(() => streams.every((stream) => stream.isOver()), "the streams to end");
  });
});

describe("WEB_CONCURRENCY processes without Redis", () => {
  let relay: Relay;
  const shared = useTwoProcesses(async () => {
    relay = await Relay.to(await redisUrl());
    return { REDIS_URL: relay.url, PORT: String(await freePort()) };
  });
  after(() => relay.close());

  it("return the metrics of the others while a replacement waits for Redis", async () => {
    const { service, url } = shared;
    const readyBefore = readyPids(service).length;
    const waits = relay.hold();
    process.kill(runningPids(service)[0] ?? 0, "SIGKILL");
    await waits;
    const metrics = await fetch(`${url}/metrics`);
    relay.release();

    expect(metrics.status).to.equal(200);
    expect(await metrics.text()).to.match(/^process_resident_memory_bytes/m);
    await eventually(() => readyPids(service).length === readyBefore + 1, "the other to be ready in the end");
  });

  it("are replaced when they died while Redis was down, once it is back", async () => {
    const { service, url } = shared;
    const readyBefore = readyPids(service).length;
    await relay.close();
    for (const pid of runningPids(service)) process.kill(pid, "SIGKILL");
    await eventually(() => service.output().stderr.includes("cannot be used"), "one to start in vain");

    await relay.listen();

    await eventually(() => readyPids(service).length === readyBefore + 2, "both to be ready again");
    expect((await put(`${url}/api/jobs/back`)).status).to.equal(201);
    expect(await service.stop()).to.equal(0);
  });
});

describe("the API", () => {
  it("closes although a refused client never sends the rest of its body", async () => {
    const app = await startApp();
    const client = connect(Number(new URL(app.url).port), "127.0.0.1");
    client.write("PUT /api/nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{");
    const [answer] = await once(client, "data");

    await app.close();

    expect(String(answer)).to.match(/^HTTP\/1.1 404 /);
    client.destroy();
  });

  it("answers 503 unavailable with Retry-After while MongoDB is down, and recovers by itself", async () => {
    const mongod = await startMongod();
    const app = await startApp({ mongo: `${mongod.url}/x` });
    await app.call("PUT", "/api/jobs/a", { name: "kept" });

    await mongod.stop();
    const [written, read, ready] = await Promise.all([
      app.call("PUT", "/api/jobs/a/steps/s", { stepName: "S" }),
      app.call("GET", "/api/jobs/a"),
      app.call("GET", "/readyz"),
    ]);
    await mongod.start();
    await eventually(async () => (await app.call("GET", "/readyz")).status === 200, "the service to recover");

    for (const { status, headers, body } of [written, read]) {
      expect(status, JSON.stringify(app.log)).to.equal(503);
      expect(Number(headers.get("Retry-After"))).to.be.at.least(1);
      expect(body).to.include({ code: "unavailable" });
    }
    expect(ready.status).to.equal(503);
    expect(ready.body.checks).to.deep.include({ name: "mongodb", ok: false });
    expect((await app.call("GET", "/api/jobs/a")).body).to.include({ name: "kept" });
    await app.close();
    await mongod.remove();
  });
});
