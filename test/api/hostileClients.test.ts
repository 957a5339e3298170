import { expect } from "chai";
import { startApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { EACH, HEAD, LIMITS, PUT, SlowClients } from "../support/slowClients.ts";

describe("slow clients", () => {
  const clients = new SlowClients();
  clients.areDisconnected([
    ["send nothing", {}],
    ["drip a body", { first: `${PUT}{`, drip: " " }],
  ]);

  it("do not delay a shutdown by a connection without any data", async () => {
    const unlimited = await startApp({ limits: { ...LIMITS, headMs: 600_000, requestMs: 600_000 } });
    const { isDisconnected } = await clients.attack({ url: unlimited.url });
    await eventually(async () => (await unlimited.connections()) === 1, "the clients to be connected");

    await unlimited.close();

    await eventually(isDisconnected, "the connection to be closed");
  });

  it("are disconnected at once above the maximum number of connections, until others have closed", async () => {
    const own = await startApp({ maxConnections: EACH });
    const { url } = own;
    const within = await Promise.all(Array.from({ length: EACH }, () => clients.attack({ first: HEAD, url })));
    await eventually(async () => (await own.connections()) === EACH, "all clients to be connected");

    const beyond = await clients.attack({ url });
    await eventually(() => beyond.isDisconnected(), "the excess connection to be closed");
    within[0]?.socket.destroy();
    await eventually(async () => (await own.connections()) < EACH, "a connection to be closed");
    const { status } = await own.call("GET", "/healthz");

    expect(beyond.answered()).to.equal("");
    expect(status).to.equal(200);
    for (const { socket } of within) socket.destroy();
    await own.close();
  });

  it("receive 431 for headers beyond 16 KiB, and are disconnected", async () => {
    const large = await clients.attack({ first: `${HEAD}X-A: ${"a".repeat(20_000)}\r\n\r\n` });

    await eventually(() => large.isDisconnected(), "the connection to be closed");

    expect(large.answered()).to.match(/^HTTP\/1.1 431 /);
  });
});
