import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { mongodPid, processesOf, runCli } from "../../../cli/service.ts";
import { getJob, Instances } from "../../../cli/start/instances.ts";
import { eventually } from "../../../support/eventually.ts";

describe("signalbox start with embedded servers", () => {
  let instances: Instances;
  let dataDir: string;
  before(() => {
    instances = new Instances();
    dataDir = instances.dataDir;
  });
  after(() => instances.remove());

  it("rejects a data directory that another instance uses, and names that instance", async () => {
    const { service, url } = await instances.running();
    const { code, stderr } = await runCli("start", { SIGNALBOX_DATA_DIR: dataDir }).ended;

    expect(code).to.equal(1);
    expect(stderr).to.match(
      new RegExp(`^The data directory ${dataDir} is in use by .*process ${service.pid}, ${url}\\).*\n$`),
    );
    expect(await getJob(url)).to.equal(200);
  });

  it("uses another port for MongoDB if the previous one is taken, and keeps the data", async () => {
    await instances.haveRun();
    const port = Number(readFileSync(join(dataDir, "mongodb.port"), "utf8"));
    const squatter = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
    await once(squatter, "listening");
    const url = await instances
      .start()
      .ready()
      .finally(() => squatter.close());

    expect(await getJob(url)).to.equal(200);
    expect(Number(readFileSync(join(dataDir, "mongodb.port"), "utf8"))).to.not.equal(port);
  });

  it("reloads a changed configuration on SIGHUP in web and worker, and explains a rejected one", async () => {
    const { service, url } = await instances.running();
    const wake = async (token: string) => {
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      return (await fetch(`${url}/hooks/wake`, { method: "POST", headers, body: '{ "text": "x" }' })).status;
    };

    instances.writeToken("the-second-token-of-hooks");
    service.kill("SIGHUP");
    await eventually(async () => (await wake("the-second-token-of-hooks")) === 200, "the new token to be taken");
    instances.writeToken("short");
    service.kill("SIGHUP");
    await eventually(
      () => service.printed().includes("The previous configuration stays in effect."),
      "it to be refused",
    );
    const statuses = [await wake("the-first-token-of-hooks"), await wake("the-second-token-of-hooks")];
    instances.writeToken("the-first-token-of-hooks");

    expect(statuses).to.deep.equal([401, 200]);
    expect(service.printed()).to.match(/hooks\.token must have at least 16 characters/);
  });

  it("reload waits for the outcome, and exits with 1 and the problem if the configuration is refused", async () => {
    await instances.running();
    const reload = () => runCli("reload", instances.env).ended;

    const applied = await reload();
    instances.writeToken("short");
    const refused = await reload();
    instances.writeToken("the-first-token-of-hooks");

    expect([applied.code, refused.code], applied.stderr).to.deep.equal([0, 1]);
    expect(applied.stdout).to.match(/^The changed configuration is in effect\./);
    expect(refused.stderr).to.match(/hooks\.token must have at least 16 characters/);
  });

  it("restarts a web process, a worker and servers that died", async () => {
    const { service, url } = await instances.running();
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
    const { service } = await instances.running();
    service.kill("SIGKILL");
    const url = await instances.start().ready();

    expect(await getJob(url)).to.equal(200);
  });
});
