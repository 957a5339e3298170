import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { Redis } from "ioredis";
import { eventually } from "../../support/eventually.ts";
import { type Service, startProcess } from "../../support/process.ts";
import { acquireDatabase } from "../../support/servers/databases.ts";
import { startRedis, type TestServer } from "../../support/servers/servers.ts";

const TOKEN = "a-hook-token-of-length";

/** An address whose master and replica swap roles, as at cloud providers: connections stay on the same server. */
describe("a replica of Redis that takes over behind the same address", () => {
  let servers: TestServer[];
  let address: Server;
  let leadsTo: number;
  let connections = 0;
  const sockets = new Set<Socket>();
  let service: Service | undefined;
  let releaseDatabase: (() => Promise<void>) | undefined;
  beforeEach(async () => {
    const master = await startRedis();
    servers = [master, await startRedis(["--replicaof", "127.0.0.1", String(master.port)])];
    leadsTo = master.port;
    address = createServer((client) => {
      connections++;
      const upstream = createConnection(leadsTo, "127.0.0.1");
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          client.destroy();
          upstream.destroy();
          sockets.delete(socket);
        });
      }
      client.pipe(upstream).pipe(client);
    }).listen(0, "127.0.0.1");
    await once(address, "listening");
  });
  afterEach(async () => {
    await service?.stop("SIGKILL");
    await releaseDatabase?.();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => address.close(closed));
    for (const server of servers) await server.remove();
  });

  it("is found, also by connections that the old master, now read-only, keeps open", async () => {
    const { uri, release } = await acquireDatabase();
    releaseDatabase = release;
    const env = {
      ...{ MONGODB_URI: uri, REDIS_URL: `redis://127.0.0.1:${(address.address() as AddressInfo).port}` },
      ...{ SIGNALBOX_HOOKS_ENABLED: "true", SIGNALBOX_HOOKS_TOKEN: TOKEN },
    };
    service = startProcess("test/support/processes/both.ts", env);
    const { url } = await service.ready;

    const carriedOut = async () => {
      const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
      const body = JSON.stringify({ message: "x", deliver: false });
      const { runId } = (await (await fetch(`${url}/hooks/agent`, { method: "POST", headers, body })).json()) as {
        runId: string;
      };
      return eventually(async () => {
        const run = (await (await fetch(`${url}/api/runs/${runId}`)).json()) as { status: string };
        return run.status === "completed";
      }, "the run to be carried out");
    };
    await carriedOut();

    const [master, replica] = await Promise.all(servers.map(({ url }) => new Redis(url)));
    await eventually(async () => (await replica?.info("replication"))?.includes("master_link_status:up"), "the copy");
    await replica?.replicaof("NO", "ONE");
    const isNew = servers[1]?.port as number;
    await master?.replicaof("127.0.0.1", String(isNew));
    const before = connections;
    await eventually(
      () => connections > before + 20,
      "the service to look again, while the address leads to the old one",
    );
    leadsTo = isNew;
    for (const redis of [master, replica]) redis?.disconnect();

    expect(await carriedOut()).to.equal(true);
    expect(await service.stop()).to.equal(0);
    expect(service.output().stderr).to.equal("");
  });
});
