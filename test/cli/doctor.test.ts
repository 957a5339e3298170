import fs, { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, type StatsFs, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo, Server as NetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import sinon from "sinon";
import { endOfLife } from "../../src/shared/process/version.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { withMachineClock } from "../support/machineClock.ts";
import { startRewritingProxy } from "../support/servers/rewritingProxy.ts";
import { freePort, mongoUri, startMongod, startRedis } from "../support/servers/servers.ts";
import { CERTIFICATE, canTestTls, startTlsRedis } from "../support/servers/tlsRedis.ts";

/** Starts a server on a free port of loopback. Returns the port. */
const listen = (server: NetServer): Promise<number> =>
  new Promise((listening) => {
    server.listen(0, "127.0.0.1", () => listening((server.address() as AddressInfo).port));
  });

/** A web server of somebody else, which answers every request with a page. */
const otherSite = (status = 200): Server => createServer((_, res) => res.writeHead(status).end("<p>Welcome</p>"));

describe("signalbox doctor", () => {
  let app: TestApp;
  let env: Record<string, string>;
  /** The processes that the test has started. */
  const closers: (() => unknown)[] = [];
  const folder = mkdtempSync(join(tmpdir(), "signalbox-doctor-"));
  before(async () => {
    app = await startApp();
    env = { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl, PORT: new URL(app.url).port };
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });
  const doctor = (more: Record<string, string> = {}) =>
    runInProcess(["doctor"], { SIGNALBOX_DATA_DIR: join(folder, "none"), ...env, ...more });
  const serve = async (server: NetServer): Promise<string> => {
    const port = await listen(server);
    closers.push(() => server.close());
    return String(port);
  };

  it("prints a line for each check, and exits with 0 when nothing fails", async () => {
    const { code, stdout } = await doctor({ SIGNALBOX_PUBLIC_URL: app.url });

    expect(code).to.equal(0);
    expect(stdout).to.match(/^ok {4}The configuration \(environment and defaults\) is valid\.$/m);
    expect(stdout).to.match(/^ok {4}MongoDB \d+\.\d+\.\d+ answers at 127\.0\.0\.1:\d+\.$/m);
    expect(stdout).to.match(/^ok {4}The indexes of this version exist\.$/m);
    expect(stdout).to.match(/^ok {4}The clocks of this machine and of MongoDB agree\.$/m);
    expect(stdout).to.match(/^ok {4}Redis \d+\.\d+\.\d+ answers at 127\.0\.0\.1:\d+\.$/m);
    expect(stdout).to.include(`ok    The service answers at ${app.url} and is ready.\n`);
    expect(stdout).to.include(`ok    The service answers at ${app.url}.\n`);
    expect(stdout).to.not.match(/^FAIL/m);
  });

  /** The fault, how it is caused, the exit code, and the line with the remedy. */
  const broken: [what: string, how: () => Promise<Record<string, string>>, code: number, line: RegExp][] = [
    [
      "two mistakes in the configuration, with a line for each",
      async () => ({ PORT: "high", LOG_LEVEL: "loud" }),
      1,
      /^FAIL {2}The configuration \(environment\) is not usable: [^\n]*PORT[^\n]*\.\nFAIL {2}[^\n]*LOG_LEVEL[^\n]*\.$/m,
    ],
    [
      "a MongoDB that is away",
      async () => ({ MONGODB_URI: `mongodb://127.0.0.1:${await freePort()}/x` }),
      1,
      /^FAIL {2}MongoDB at 127\.0\.0\.1:\d+ cannot be used \(ECONNREFUSED\): start it, or correct MONGODB_URI .*\.$/m,
    ],
    [
      "a MongoDB past its end of life",
      async () => {
        const { host, pathname } = new URL(app.mongoUri);
        const [, port] = host.split(":");
        const older = (text: string) => text.replace(/(?<=\bversion.{5})\d(?=\.\d)/s, "4");
        const proxy = await startRewritingProxy(Number(port), older);
        closers.push(proxy.close);
        return { MONGODB_URI: `mongodb://127.0.0.1:${proxy.port}${pathname}?directConnection=true` };
      },
      0,
      /^warn {2}MongoDB 4\.\d+\.\d+ is past its end of life and gets no security updates: use 7\.0 or later\.$/m,
    ],
    [
      "missing indexes",
      async () => ({ MONGODB_URI: await mongoUri("doctor-unprepared") }),
      1,
      /^FAIL {2}MongoDB lacks indexes on .*jobs.*: run `npm run release` once, then start again\.$/m,
    ],
    [
      "a Redis that is away",
      async () => ({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` }),
      1,
      /^FAIL {2}Redis at 127\.0\.0\.1:\d+ cannot be used \(ECONNREFUSED\): start it, or correct REDIS_URL .*\.$/m,
    ],
    [
      "a Redis that may delete queued work",
      async () => {
        const redis = await startRedis(["--maxmemory-policy", "allkeys-lru"]);
        closers.push(redis.remove);
        return { REDIS_URL: redis.url };
      },
      1,
      /^FAIL {2}Redis may delete queued work .*\(maxmemory-policy allkeys-lru\): set maxmemory-policy noeviction\.$/m,
    ],
    [
      "a Redis that is too old",
      () => redisOf("6.0"),
      0,
      /^warn {2}Redis 6\.0\.\d+ is too old .*: use Redis 6\.2 or later\.$/m,
    ],
    [
      "a Redis that the queues refuse",
      () => redisOf("4.0"),
      1,
      /^FAIL {2}The queues do not work with Redis 4\.0\.\d+: use Redis 6\.2 or later\.$/m,
    ],
    [
      "a port that another web server uses",
      async () => ({ PORT: await serve(otherSite()) }),
      1,
      /^FAIL {2}http:\/\/127\.0\.0\.1:\d+ does not answer as Signalbox: another program .*\. Stop it, or set PORT .*\.$/m,
    ],
    [
      "a port that a program without HTTP uses",
      async () => ({ PORT: new URL(app.redisUrl).port }),
      1,
      /^FAIL {2}http:\/\/127\.0\.0\.1:\d+ does not answer as Signalbox: another program .*\. Stop it, or set PORT .*\.$/m,
    ],
    [
      "a service that does not run",
      async () => ({ PORT: String(await freePort()) }),
      0,
      /^warn {2}No service answers at http:\/\/127\.0\.0\.1:\d+: start it with signalbox start\.$/m,
    ],
    [
      "a service without a fixed port",
      async () => ({ PORT: "0" }),
      0,
      /^warn {2}No service answers at http:\/\/127\.0\.0\.1:0: start it with signalbox start\.$/m,
    ],
    [
      "a public address that nobody serves",
      async () => ({ SIGNALBOX_PUBLIC_URL: `http://127.0.0.1:${await freePort()}` }),
      0,
      /^warn {2}http:\S+ cannot be reached from this machine \(ECONNREFUSED\): .*correct SIGNALBOX_PUBLIC_URL .*\.$/m,
    ],
    [
      "a public address with a certificate that is not trusted",
      async () => {
        const pem = readFileSync(CERTIFICATE);
        const server = createTlsServer({ key: pem, cert: pem }, (_, res) => res.end());
        return { SIGNALBOX_PUBLIC_URL: `https://127.0.0.1:${await serve(server)}` };
      },
      0,
      /^warn {2}https:\S+ cannot be reached from this machine \(DEPTH_ZERO_SELF_SIGNED_CERT\): .* certificate .*\.$/m,
    ],
    [
      "a public address of another service",
      async () => ({ SIGNALBOX_PUBLIC_URL: `http://127.0.0.1:${await serve(otherSite())}` }),
      1,
      /^FAIL {2}http:\S+ answers as another service \(200 for \/healthz\): .*correct SIGNALBOX_PUBLIC_URL .*\.$/m,
    ],
    [
      "a proxy at the public address that does not reach the service",
      async () => ({ SIGNALBOX_PUBLIC_URL: `http://127.0.0.1:${await serve(otherSite(502))}` }),
      0,
      /^warn {2}The proxy at http:\S+ does not reach the service \(502\): start it, or correct the proxy\.$/m,
    ],
  ];
  const degraded: typeof broken = [
    [
      "a service without Redis",
      () => serviceWithout("redis"),
      0,
      /^warn {2}The service at http:\S+ works without Redis: runs and deliveries wait until Redis answers\.$/m,
    ],
    [
      "a service without MongoDB",
      () => serviceWithout("mongodb"),
      1,
      /^FAIL {2}The service at http:\S+ is not ready \(503\): it lacks mongodb; correct that first\.$/m,
    ],
    [
      "a SIGNALBOX_URL that nobody serves",
      async () => ({ SIGNALBOX_URL: `http://127.0.0.1:${await freePort()}`, SIGNALBOX_PUBLIC_URL: app.url }),
      0,
      /^warn {2}No service answers at http:\/\/127\.0\.0\.1:\d+: start it with signalbox start\.$/m,
    ],
    [
      "a SIGNALBOX_URL that is no address",
      async () => ({ SIGNALBOX_URL: "127.0.0.1:3000" }),
      1,
      /^FAIL {2}SIGNALBOX_URL must start with http:\/\/ or https:\/\/: .*\.$/m,
    ],
  ];
  for (const [what, how, code, line] of [...broken, ...degraded]) {
    it(`says what to do about ${what}`, async () => {
      const found = await doctor(await how());

      expect(found.stdout).to.match(line);
      expect(found.stdout.match(/^(ok|warn|FAIL)/gm)).to.have.length(found.stdout.trimEnd().split("\n").length);
      expect(found).to.include({ code, stderr: "" });
    });
  }

  /** Returns the port of a service that cannot use a server. */
  async function serviceWithout(name: string): Promise<Record<string, string>> {
    const without = await startApp({ probes: [{ name, check: () => Promise.reject(new Error("away")) }] });
    closers.push(() => without.close());
    return { PORT: new URL(without.url).port };
  }

  /** Runs `act` while each disk has 12 MB of 760 MB free. */
  async function withFullDisk<T>(act: () => Promise<T>): Promise<T> {
    const stub = sinon.stub(fs, "statfsSync").returns({ bavail: 12, blocks: 760, bsize: 1e6 } as StatsFs);
    syncBuiltinESMExports();
    try {
      return await act();
    } finally {
      stub.restore();
      syncBuiltinESMExports();
    }
  }

  it("says what to do about a full disk of the embedded MongoDB, in one line", async () => {
    const { code, stdout } = await withFullDisk(() => doctor({ MONGODB_URI: "", SIGNALBOX_DATA_DIR: folder }));

    const line = `FAIL  The disk of ${folder} has 12 MB free of 760 MB, and MongoDB needs 500 MB: free some, or set SIGNALBOX_DATA_DIR`;
    expect(code).to.equal(1);
    expect(stdout).to.include(line);
  });

  it("says what to do about a replica set that is not initiated, however it is addressed", async () => {
    const ghost = await startMongod(["--replSet", "rs0"]);
    closers.push(ghost.remove);

    for (const query of ["replicaSet=rs0", "directConnection=true"]) {
      const { code, stdout } = await doctor({ MONGODB_URI: `mongodb://127.0.0.1:${ghost.port}/x?${query}` });

      const remedy = "run rs.initiate() in mongosh once.";
      const where = `MongoDB at 127.0.0.1:${ghost.port}`;
      expect(stdout).to.include(`FAIL  ${where} answers, but its replica set is not initiated: ${remedy}\n`);
      expect(code).to.equal(1);
    }
  });

  it("asks the service that SIGNALBOX_URL names", async () => {
    const { code, stdout } = await doctor({ PORT: String(await freePort()), SIGNALBOX_URL: app.url });

    expect(stdout).to.include(`ok    The service answers at ${app.url} and is ready.\n`).and.not.include("No service");
    expect(code).to.equal(0);
  });

  it("does not miss a service here if the public address leads to one", async () => {
    const { stdout } = await doctor({ PORT: String(await freePort()), SIGNALBOX_PUBLIC_URL: app.url });

    expect(stdout).to.include(`ok    The service answers at ${app.url}.\n`).and.not.include("No service");
  });

  /** Returns the settings of a Redis that says that it has another version. */
  async function redisOf(version: string): Promise<Record<string, string>> {
    const older = (text: string) => text.replace(/(?<=redis_version:)\d\.\d(?=\.)/, version);
    const proxy = await startRewritingProxy(Number(new URL(app.redisUrl).port), older);
    closers.push(proxy.close);
    return { REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
  }

  it("says what to do about a clock that differs from MongoDB's", async () => {
    const { code, stdout } = await withMachineClock(60_000, () => doctor());

    expect(stdout).to.match(
      /^warn {2}The clocks of this machine and of MongoDB differ by \d+ s: synchronize them by NTP\.$/m,
    );
    expect(code).to.equal(0);
  });

  it("says what to do about files with secrets, and a data directory, that others can read", async () => {
    const file = join(folder, "signalbox.json5");
    const credentials = join(folder, "gmail-credentials.json");
    const data = join(folder, "data");
    mkdirSync(data);
    const gmail = { account: "ada@gmail.com", credentialsFile: credentials };
    writeFileSync(
      file,
      JSON.stringify({ hooks: { enabled: true, token: "a-token-of-24-characters", presets: ["gmail"], gmail } }),
    );
    writeFileSync(credentials, "{}");
    for (const path of [file, credentials]) chmodSync(path, 0o644);
    chmodSync(data, 0o755);
    const { stdout } = await doctor({ SIGNALBOX_CONFIG: file, SIGNALBOX_DATA_DIR: data });

    const line = (path: string, mode: string) =>
      `warn  ${path} can be read by other users of this machine: chmod ${mode} ${path}\n`;
    expect(stdout).to.include(line(file, "600")).and.to.include(line(data, "700"));
    expect(stdout).to.include(line(credentials, "600"));
  });

  if (canTestTls())
    it("says what to do about a certificate of Redis that nobody has signed", async () => {
      const redis = await startTlsRedis(await freePort());
      closers.push(redis.remove);
      const { code, stdout } = await doctor({ REDIS_URL: `rediss://127.0.0.1:${redis.port}` });

      expect(stdout).to.match(
        /^FAIL {2}Redis at .* \(DEPTH_ZERO_SELF_SIGNED_CERT\): .*REDIS_TLS_REJECT_UNAUTHORIZED=false/m,
      );
      expect(code).to.equal(1);
    });

  it("accepts a public address whose proxy keeps /healthz from others", async () => {
    const proxy = createServer(async (req, res) => {
      if (req.url === "/healthz") return res.writeHead(403).end();
      return res.end(await (await fetch(app.url + req.url)).text());
    });
    const url = `http://127.0.0.1:${await serve(proxy)}`;
    const { code, stdout } = await doctor({ SIGNALBOX_PUBLIC_URL: url });

    expect(stdout).to.include(`ok    The service answers at ${url}.\n`);
    expect(code).to.equal(0);
  });
});

describe("endOfLife", () => {
  it("names a version that is no longer maintained, and none that is", () => {
    expect(endOfLife("6.0.5")).to.include("MongoDB 6.0.5 is past its end of life").and.to.include("7.0 or later");
    expect(["7.0.1", "8.2.0", "10.0.0"].map(endOfLife)).to.deep.equal(Array(3).fill(undefined));
  });
});
