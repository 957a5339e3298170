import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { isRunning, processesOf } from "../../../cli/service.ts";
import { Instances } from "../../../cli/start/instances.ts";
import { runInProcess } from "../../../support/cli.ts";
import { eventually } from "../../../support/eventually.ts";

describe("signalbox start with embedded servers", () => {
  let instances: Instances;
  let dataDir: string;
  before(() => {
    instances = new Instances();
    dataDir = instances.dataDir;
  });
  after(() => instances.remove());

  it("stores its log, which `signalbox logs` prints", async () => {
    const { url } = await instances.running();
    await fetch(`${url}/api/jobs/not-there`);
    const read = () => runInProcess(["logs"], instances.env);

    await eventually(async () => (await read()).stdout.includes("/api/jobs/not-there"), "the request in the log");

    const { stdout, stderr } = await read();
    const processes = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).process);
    expect([...new Set(processes)].sort()).to.deep.equal(["web", "worker"]);
    expect(stderr).to.equal("");
  });

  it("stops web, worker, Redis, MongoDB in this order on Ctrl-C", async () => {
    const { service } = await instances.running();
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
    await watching;
    const { code, stderr } = await service.ended;
    await instances.stop();

    expect(code).to.equal(0);
    expect(stderr.split("The previous configuration stays in effect.\n").at(-1)).to.equal("");
    expect(order).to.deep.equal(["web", "worker", "redis", "mongod"]);
    expect(existsSync(join(dataDir, "instance.json"))).to.equal(false);
  });
});
