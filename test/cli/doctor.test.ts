import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { endOfLife } from "../../src/shared/mongodbVersion.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { freePort, mongoUri, startRedis } from "../support/servers/servers.ts";

describe("signalbox doctor", () => {
  let app: TestApp;
  let env: Record<string, string>;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-doctor-"));
  before(async () => {
    app = await startApp();
    env = { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl, PORT: new URL(app.url).port };
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });
  const doctor = (more: Record<string, string> = {}) => runInProcess(["doctor"], { ...env, ...more });

  it("prints a line for each check, and exits with 0 when nothing fails", async () => {
    const { code, stdout } = await doctor();

    expect(code).to.equal(0);
    expect(stdout).to.match(/^ok {4}The configuration \(environment and defaults\) is valid\.$/m);
    expect(stdout).to.match(/^ok {4}MongoDB \d+\.\d+\.\d+ answers at 127\.0\.0\.1:\d+\.$/m);
    expect(stdout).to.match(/^ok {4}The indexes of this version exist\.$/m);
    expect(stdout).to.match(/^ok {4}The clocks of this machine and of MongoDB agree\.$/m);
    expect(stdout).to.match(/^ok {4}Redis \d+\.\d+\.\d+ answers at 127\.0\.0\.1:\d+\.$/m);
    expect(stdout).to.include(`ok    The service answers at ${app.url} and is ready.\n`);
    expect(stdout).to.not.match(/^FAIL/m);
  });

  it("fails for missing indexes and unreachable servers, with what to do", async () => {
    const unprepared = await doctor({ MONGODB_URI: await mongoUri("doctor-unprepared") });
    const away = `127.0.0.1:${await freePort()}`;
    const unreachable = await doctor({ MONGODB_URI: `mongodb://${away}/x`, REDIS_URL: `redis://${away}` });

    expect([unprepared.code, unreachable.code]).to.deep.equal([1, 1]);
    expect(unprepared.stdout).to.match(/^FAIL {2}MongoDB lacks indexes on .*run `npm run release` once/m);
    expect(unreachable.stdout).to.match(/^FAIL {2}MongoDB at .*MONGODB_URI/m);
    expect(unreachable.stdout).to.match(/^FAIL {2}Redis at .*REDIS_URL/m);
  });

  it("fails for a Redis that may delete queued work", async () => {
    const redis = await startRedis(["--maxmemory-policy", "allkeys-lru"]);
    const { code, stdout } = await doctor({ REDIS_URL: redis.url });
    await redis.remove();

    expect(code).to.equal(1);
    expect(stdout).to.match(/^FAIL {2}Redis may delete queued work .*: set maxmemory-policy noeviction\.$/m);
  });

  it("warns of a configuration file that others can read, and of a service that does not run", async () => {
    const file = join(folder, "signalbox.json5");
    writeFileSync(file, "{}");
    chmodSync(file, 0o644);
    const { code, stdout } = await doctor({ SIGNALBOX_CONFIG: file, PORT: String(await freePort()) });

    expect(code).to.equal(0);
    expect(stdout).to.include(`warn  ${file} can be read by other users of this machine: chmod 600 ${file}\n`);
    expect(stdout).to.match(
      /^warn {2}No service answers at http:\/\/127\.0\.0\.1:\d+: start it with signalbox start\.$/m,
    );
  });

  it("fails with the problems of a configuration that is not valid", async () => {
    const { code, stdout } = await doctor({ PORT: "high" });

    expect(code).to.equal(1);
    expect(stdout).to.match(/^FAIL .*PORT/m);
  });
});

describe("endOfLife", () => {
  it("names a version that is no longer maintained, and none that is", () => {
    expect(endOfLife("6.0.5")).to.include("MongoDB 6.0.5 is past its end of life").and.to.include("7.0 or later");
    expect(["7.0.1", "8.2.0", "10.0.0"].map(endOfLife)).to.deep.equal(Array(3).fill(undefined));
  });
});
