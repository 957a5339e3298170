import { expect } from "chai";
import { Redis } from "ioredis";
import { eventually } from "../../../support/eventually.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { acquireDatabase } from "../../../support/servers/databases.ts";
import { Relay } from "../../../support/servers/relay.ts";
import { startRedis, type TestServer } from "../../../support/servers/servers.ts";

const TOKEN = "a-hook-token-of-length";

/** An address whose master and replica swap roles, as at cloud providers: connections stay on the same server. */
describe("a replica of Redis that takes over behind the same address", () => {
  let servers: TestServer[];
  let address: Relay;
  let service: Service | undefined;
  let releaseDatabase: (() => Promise<void>) | undefined;
  beforeEach(async () => {
    const master = await startRedis();
    servers = [master, await startRedis(["--replicaof", "127.0.0.1", String(master.port)])];
    address = await Relay.to(master.url);
  });
  afterEach(async () => {
    await service?.stop("SIGKILL");
    await releaseDatabase?.();
    await address.close();
    for (const server of servers) await server.remove();
  });

  it("is found, also by connections that the old master, now read-only, keeps open", async () => {
    const { uri, release } = await acquireDatabase();
    releaseDatabase = release;
    const env = {
      MONGODB_URI: uri,
      REDIS_URL: address.url,
      SIGNALBOX_HOOKS_ENABLED: "true",
      SIGNALBOX_HOOKS_TOKEN: TOKEN,
    };
    service = startProcess("test/support/processes/both.ts", env);
    const { url } = await service.ready;

    const completesRun = async () => {
      const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
      const body = JSON.stringify({ message: "x", deliver: false });
      const { runId } = (await (await fetch(`${url}/hooks/agent`, { method: "POST", headers, body })).json()) as {
        runId: string;
      };
      return eventually(async () => {
        const run = (await (await fetch(`${url}/api/runs/${runId}`)).json()) as { status: string };
        return run.status === "completed";
      }, "the run to complete");
    };
    await completesRun();

    const [master, replica] = await Promise.all(servers.map(({ url }) => new Redis(url)));
    await eventually(async () => (await replica?.info("replication"))?.includes("master_link_status:up"), "the copy");
    await replica?.replicaof("NO", "ONE");
    const newMaster = servers[1] as TestServer;
    await master?.replicaof("127.0.0.1", String(newMaster.port));
    const before = address.connections;
    await eventually(() => address.connections > before + 20, "the service to reconnect to the old master");
    address.redirect(newMaster.url);
    for (const redis of [master, replica]) redis?.disconnect();

    expect(await completesRun()).to.equal(true);
    expect(await service.stop()).to.equal(0);
    expect(service.output().stderr).to.equal("");
  });
});
