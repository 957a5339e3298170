import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runCli } from "../../../cli/service.ts";
import { allEnd } from "../../../cli/start/instances.ts";
import { freePort, mongoUri, redisUrl } from "../../../support/servers/servers.ts";

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
});
