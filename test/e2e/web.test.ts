import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { readJob } from "../../src/models/commands/readJobs.ts";
import { connectDatabase } from "../../src/models/database.ts";
import { openStores } from "../../src/models/stores.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { openEvents } from "../support/eventSource.ts";
import { eventually } from "../support/eventually.ts";
import { type Service, startProcess } from "../support/process.ts";
import { freePort, mongoUri, redisUrl, startMongod, startRedis } from "../support/servers.ts";

const WEB = "src/api/main.ts";

async function environment(): Promise<Record<string, string>> {
  const uri = await mongoUri(`test-${randomUUID()}`);
  const database = await connectDatabase(uri);
  await database.createIndexes();
  await database.close();
  return { MONGODB_URI: uri, REDIS_URL: await redisUrl() };
}

const put = (url: string, body: object = {}) =>
  fetch(url, { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const readyPids = (service: Service) =>
  [...service.output().stdout.matchAll(/"pid":(\d+),"url".*is ready/g)].map(([, pid]) => Number(pid));

describe("the web process", () => {
  let env: Record<string, string>;
  const running: Service[] = [];
  before(async () => {
    env = await environment();
  });
  afterEach(async () => {
    for (const service of running.splice(0)) if (service.child.exitCode === null) await service.stop("SIGKILL");
  });
  const web = (more: Record<string, string> = {}) => {
    const service = startProcess(WEB, { ...env, ...more });
    running.push(service);
    return service;
  };

  it("answers a request that was under way when it was told to stop, takes no new one, and ends with 0", async () => {
    const service = web();
    const { url } = await service.ready;
    const port = Number(new URL(url).port);
    const socket = connect(port, "127.0.0.1");
    const body = '{"name":"kept"}';
    const head = `PUT /api/jobs/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head + body.slice(0, 5));
    await eventually(async () => (await fetch(`${url}/healthz`)).ok, "the process to have taken the half request");

    service.child.kill("SIGTERM");
    await eventually(() => refuses(port), "the port to be closed");
    socket.write(body.slice(5));
    const answer = await text(socket);

    expect(answer)
      .to.match(/^HTTP\/1\.1 201/)
      .and.to.match(/connection: close/i);
    expect(await service.ended).to.equal(0);
    expect(service.output().stderr).to.equal("");
  });

  it("cuts no accepted request when it is stopped under load", async () => {
    const service = web();
    const { url } = await service.ready;
    await put(`${url}/api/jobs/load`);
    let answered = 0;
    const failures: string[] = [];
    const client = async () => {
      for (;;) {
        try {
          const response = await put(`${url}/api/jobs/load/steps/s`, { stepName: "S" });
          await response.text();
          if (response.ok) answered++;
          else failures.push(String(response.status));
        } catch (error) {
          const { code } = (error as { cause: { code: string } }).cause;
          // a connection that the system has, and the process not yet, ends with the port; nothing of it was accepted
          if (!["ECONNREFUSED", "ECONNRESET"].includes(code)) failures.push(code);
          return;
        }
      }
    };
    const clients = Promise.all(Array.from({ length: 20 }, client));
    await eventually(() => answered > 200, "the load to run");

    const code = await service.stop();
    await clients;

    expect(code).to.equal(0);
    expect(failures).to.deep.equal([]);
    expect(service.output().stdout).to.not.include('"aborted":true');
  });

  it("has stored whatever it answered when it is stopped with batches of reports and new jobs under way", async () => {
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    await database.createIndexes();
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

  it("ends with 0 though a client that was refused keeps the rest of its body back", async () => {
    const service = web();
    const { url } = await service.ready;
    const client = connect(Number(new URL(url).port), "127.0.0.1");
    client.write("PUT /api/nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{");
    const [answer] = await once(client, "data");

    const ended = service.stop();

    expect(String(answer)).to.match(/^HTTP\/1.1 404 /);
    expect(await ended).to.equal(0);
    client.destroy();
  });

  it("stops when the process that started it is gone", async () => {
    const service = web();
    await service.ready;

    service.child.disconnect();

    expect(await service.ended).to.equal(0);
  });

  it("shares the port between WEB_CONCURRENCY processes, adds their metrics up, and replaces one that dies", async () => {
    const service = web({ WEB_CONCURRENCY: "2", LOG_LEVEL: "info" });
    const { url } = await service.ready;
    const pids = () => new Set(readyPids(service));
    for (let i = 0; i < 20; i++) await (await put(`${url}/api/jobs/c${i}`)).text();

    const metrics = await (await fetch(`${url}/metrics`)).text();
    const [victim] = pids();
    process.kill(victim as number, "SIGKILL");
    await eventually(() => pids().size === 3, "another process to be ready");

    expect(metrics).to.match(/^signalbox_jobs_total\{outcome="created"\} 20$/m);
    expect((await fetch(`${url}/api/jobs/c1`)).status).to.equal(200);
    expect(await service.stop()).to.equal(0);
  });

  it("gives no metrics but 503 while one of WEB_CONCURRENCY processes hangs, and gives them once it goes on", async () => {
    const service = web({ WEB_CONCURRENCY: "2", LOG_LEVEL: "info" });
    const { url } = await service.ready;
    const pids = () => readyPids(service);
    await eventually(() => pids().length === 2, "both processes to be ready");
    await put(`${url}/api/jobs/${randomUUID()}`);
    const read = () => fetch(`${url}/metrics`);

    process.kill(pids()[0]!, "SIGSTOP");
    const asked = [read(), read()]; // one of them may be given to the one that hangs
    const answer = await Promise.any(asked);
    process.kill(pids()[0]!, "SIGCONT");
    await Promise.all(asked);

    expect(answer.status).to.equal(503);
    expect(await answer.json()).to.include({ code: "unavailable" });
    expect(await (await read()).text()).to.match(/^signalbox_jobs_total\{outcome="created"\} 1$/m);
  });

  it("gives the metrics of the others while one that is to replace another still waits for Redis", async () => {
    const redis = new URL(await redisUrl());
    const { promise: waits, resolve: held } = Promise.withResolvers<void>();
    const sockets: Socket[] = [];
    let holds = false;
    const relay = createServer((client) => {
      sockets.push(client);
      if (holds) return held();
      const upstream = connect(Number(redis.port), redis.hostname);
      sockets.push(upstream);
      client.on("error", () => {}).pipe(upstream);
      upstream.on("error", () => {}).pipe(client);
    }).listen(0, "127.0.0.1");
    await once(relay, "listening");
    const { port } = relay.address() as AddressInfo;
    const service = web({ WEB_CONCURRENCY: "2", LOG_LEVEL: "info", REDIS_URL: `redis://127.0.0.1:${port}` });
    const { url } = await service.ready;
    await eventually(() => readyPids(service).length === 2, "both processes to be ready");

    holds = true;
    process.kill(readyPids(service)[0]!, "SIGKILL");
    await waits;
    const metrics = await fetch(`${url}/metrics`);

    expect(metrics.status).to.equal(200);
    expect(await metrics.text()).to.match(/^process_resident_memory_bytes/m);
    await service.stop("SIGKILL");
    for (const socket of sockets) socket.destroy();
    relay.close();
  });

  it("tells live events of every process to the clients of each, and ends their streams when it stops", async () => {
    const service = web({ WEB_CONCURRENCY: "2", LOG_LEVEL: "info" });
    const { url } = await service.ready;
    const ready = () => service.output().stdout.match(/"url".*is ready/g)?.length ?? 0;
    await eventually(() => ready() === 2, "both processes to be ready");
    const streams = await Promise.all(Array.from({ length: 12 }, () => openEvents(`${url}/api/events?topic=jobs`)));
    const ids = Array.from({ length: 12 }, (_, i) => `told-${i}`);

    await Promise.all(ids.map(async (id) => (await put(`${url}/api/jobs/${id}`)).text()));
    for (const stream of streams) {
      await eventually(() => ids.every((id) => stream.events.some(({ data }) => data.jobId === id)), "all jobs");
    }
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const code = await service.stop();

    expect(metrics).to.match(/^signalbox_event_streams(\{.*\})? 12$/m);
    expect(code).to.equal(0);
    await eventually(() => streams.every((stream) => stream.isOver()), "the streams to end");
  });

  it("replaces processes that die while Redis is away once it is back", async function () {
    this.timeout(120_000);
    const redis = await startRedis();
    const service = web({
      WEB_CONCURRENCY: "2",
      LOG_LEVEL: "info",
      REDIS_URL: redis.url,
      PORT: String(await freePort()),
    });
    const { url } = await service.ready;
    const pids = () => readyPids(service);
    await eventually(() => pids().length === 2, "both processes to be ready");

    await redis.stop("SIGKILL");
    for (const pid of pids()) process.kill(pid, "SIGKILL");
    await eventually(() => service.output().stderr.includes("cannot be used"), "one to start in vain");
    await redis.start();

    await eventually(() => pids().length === 4, "both to be ready again", 30_000);
    expect((await put(`${url}/api/jobs/back`)).status).to.equal(201);
    expect(await service.stop()).to.equal(0);
    await redis.remove();
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
      /^MongoDB lacks indexes on jobs, steps, .*: run `npm run release` once/,
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
  const OPEN = { SIGNALBOX_CONFIG: "test/e2e/open.json5" };
  for (const [title, more, sentence] of refused) {
    it(`says in a sentence that ${title}, and ends with 1`, async () => {
      const service = web(await more());

      expect(await service.ended).to.equal(1);
      const { stderr } = service.output();
      expect(stderr).to.match(sentence);
      expect(stderr)
        .to.not.match(/^ +at /m)
        .and.to.not.include("secret");
    });
  }

  it("says in a sentence that the port is taken, and ends with 1", async () => {
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

describe("while MongoDB is away", () => {
  it("answers 503 unavailable with Retry-After, and recovers by itself", async function () {
    this.timeout(120_000);
    const mongod = await startMongod();
    const uri = `${mongod.url}/x`;
    const database = await connectDatabase(uri);
    await database.createIndexes();
    await database.close();
    const service = startProcess(WEB, { MONGODB_URI: uri, REDIS_URL: await redisUrl() });
    const { url } = await service.ready;
    await put(`${url}/api/jobs/a`, { name: "kept" });

    await mongod.stop();
    const written = await put(`${url}/api/jobs/a/steps/s`, { stepName: "S" });
    const read = await fetch(`${url}/api/jobs/a`);
    const ready = await fetch(`${url}/readyz`);
    await mongod.start();
    await eventually(async () => (await fetch(`${url}/readyz`)).ok, "the service to recover", 30_000);

    for (const response of [written, read]) {
      expect(response.status, service.output().stdout).to.equal(503);
      expect(Number(response.headers.get("Retry-After"))).to.be.at.least(1);
      expect(await response.json()).to.include({ code: "unavailable" });
    }
    expect(ready.status).to.equal(503);
    expect(((await ready.json()) as { checks: object[] }).checks).to.deep.include({ name: "mongodb", ok: false });
    expect(await (await fetch(`${url}/api/jobs/a`)).json()).to.include({ name: "kept" });
    expect(await service.stop()).to.equal(0);
    await mongod.remove();
  });
});

async function refuses(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}
