import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connectDatabase } from "../../src/models/database.ts";
import { eventually } from "../support/eventually.ts";
import { type Service, startProcess } from "../support/process.ts";
import { mongoUri, redisUrl } from "../support/servers.ts";

describe("SIGHUP", () => {
  let dir: string;
  const running: Service[] = [];
  const file = () => join(dir, "signalbox.json5");
  const write = (template: string, token = "a-hook-token-of-length") =>
    writeFileSync(
      file(),
      `{ redis: { prefix: "${randomPrefix}" }, hooks: { enabled: true, token: "${token}", mappings: [
        { match: { path: "a" }, messageTemplate: "${template}", deliver: false },
      ] } }`,
    );
  const randomPrefix = `reload-${randomUUID().slice(0, 8)}`;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-reload-"));
  });
  afterEach(async () => {
    for (const service of running.splice(0)) if (service.child.exitCode === null) await service.stop("SIGKILL");
    rmSync(dir, { recursive: true });
  });

  it("has web and worker take a changed configuration up, and refuse one that is not usable", async function () {
    this.timeout(60_000);
    write("one");
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    await database.createIndexes();
    await database.close();
    const env = { MONGODB_URI: uri, REDIS_URL: await redisUrl(), SIGNALBOX_CONFIG: file() };
    for (const main of ["api", "workers"]) running.push(startProcess(`src/${main}/main.ts`, env));
    const [web] = running as [Service, Service];
    const { url } = await web.ready;
    await Promise.all(running.map(({ ready }) => ready));
    const post = (token: string) =>
      fetch(`${url}/hooks/a`, { method: "POST", headers: { Authorization: `Bearer ${token}` }, body: "" });
    const told = async (token: string) => {
      const { runId } = (await (await post(token)).json()) as { runId: string };
      return eventually(async () => {
        const run = (await (await fetch(`${url}/api/runs/${runId}`)).json()) as { status: string; reply: string };
        return run.status === "completed" && run.reply;
      }, "the run to end");
    };
    const reload = async (words: RegExp) => {
      const before = running.map((service) => service.output().stdout.length);
      for (const { child } of running) child.kill("SIGHUP");
      await eventually(
        () => running.every((service, i) => words.test(service.output().stdout.slice(before[i]))),
        `both to say ${words}`,
      );
    };

    const first = await told("a-hook-token-of-length");
    write("two", "another-token-of-length");
    await reload(/was read again/);
    const second = await told("another-token-of-length");
    const oldToken = (await post("a-hook-token-of-length")).status;
    write("{{broken", "a-third-token-of-length");
    await reload(/is refused; the old one stays/);
    const third = await told("another-token-of-length");

    expect([first, second, third].map((reply) => reply.split(": ").at(-1))).to.deep.equal(["one", "two", "two"]);
    expect(oldToken).to.equal(401);
    expect(web.output().stdout).to.match(/messageTemplate: line 1, column 1: these braces are never closed/);
    for (const service of running) expect(await service.stop()).to.equal(0);
  });
});
