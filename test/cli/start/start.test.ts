import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { runInProcess } from "../../support/cli.ts";
import { mongoUri } from "../../support/servers/servers.ts";
import { runCli } from "../service.ts";
import { Instances } from "./instances.ts";

describe("signalbox start with embedded servers", () => {
  let instances: Instances;
  let dataDir: string;
  before(() => {
    instances = new Instances();
    dataDir = instances.dataDir;
  });
  after(() => instances.remove());

  it("prints all addresses, and makes an open data directory private", async () => {
    mkdirSync(dataDir, { recursive: true });
    for (const name of ["redis.log", "mongod.log", "mongodb.port"]) writeFileSync(join(dataDir, name), "");
    for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o644);
    chmodSync(dataDir, 0o755);
    const { service, url } = await instances.running();

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

  it("names the instance that runs in the data directory, also if both want the same port", async () => {
    const { service, url } = await instances.running();

    const { code, stderr } = await runCli("start", { ...instances.env, PORT: new URL(url).port }).ended;

    expect(code).to.equal(1);
    expect(stderr).to.include(`is in use by another instance (process ${service.pid}, ${url}): stop that instance`);
    expect(stderr.trimEnd().split("\n")).to.have.length(1);
  });

  it("serves the metrics of web and worker together, each metric once", async () => {
    const { url } = await instances.running();

    const text = await (await fetch(`${url}/metrics`)).text();

    expect(text).to.match(/^signalbox_jobs\{state="running"\} \d+$/m);
    expect(text).to.match(/^signalbox_runs_total\{outcome="failed",code="agent_failed"\} 0$/m);
    expect(text).to.match(/^signalbox_deliveries_total\{channel="webhook",outcome="failed"\} 0$/m);
    const types = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    expect(types).to.have.length(new Set(types).size);
    expect(text.match(/^signalbox_build_info\{/gm)).to.have.length(1);
  });

  it("reload applies a changed configuration to the instance of the data directory, and refuses a faulty one", async () => {
    const { service, url } = await instances.running();
    const env = instances.env;
    const wake = async () => {
      const headers = { Authorization: "Bearer the-third-token-of-hooks", "Content-Type": "application/json" };
      return (await fetch(`${url}/hooks/wake`, { method: "POST", headers, body: '{ "text": "x" }' })).status;
    };

    instances.writeToken("the-third-token-of-hooks");
    const reloaded = await runInProcess(["reload"], env);
    const status = await wake();
    instances.writeToken("short");
    const refused = await runInProcess(["reload"], env);
    instances.writeToken("${ONLY_OF_THE_CALLER}");
    const refusedThere = await runInProcess(["reload"], { ...env, ONLY_OF_THE_CALLER: "a-token-that-is-long-enough" });
    instances.writeToken("the-first-token-of-hooks");

    expect(reloaded).to.deep.equal({
      code: 0,
      stdout: `The changed configuration is in effect. The instance at ${url} (process ${service.pid}) has read it.\n`,
      stderr: "",
    });
    expect(status).to.equal(200);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/hooks\.token must have at least 16 characters/);
    expect(refusedThere.code).to.equal(1);
    expect(refusedThere.stderr).to.match(/ONLY_OF_THE_CALLER is not set.*keeps its previous configuration\./s);
    expect(await wake()).to.equal(200);
  });

  it("reload explains that no instance runs in the data directory", async () => {
    const { code, stderr } = await runInProcess(["reload"], { SIGNALBOX_DATA_DIR: join(instances.home, "none") });

    expect(code).to.equal(1);
    expect(stderr).to.match(/^No instance with an embedded server runs in \S+\/none: set SIGNALBOX_DATA_DIR .*\n$/);
  });
});

describe("signalbox start that fails", () => {
  it("prints all problems of the configuration without a stack", async () => {
    const { code, stderr } = await runCli("start", { PORT: "99999", LOG_LEVEL: "loud" }).ended;

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
