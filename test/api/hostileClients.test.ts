import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";

/**
 * Shorter than in production, but long enough for the honest clients of this process: after a stall of the machine the
 * server checks its limits before it reads what they have sent.
 */
const LIMITS = { headMs: 1_200, requestMs: 1_800, responseMs: 1_200, checkIntervalMs: 50 };
const EACH = 25;
const HEAD = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
const PUT =
  "PUT /api/jobs/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";

/** A client that sends its request slowly. */
interface Attacker {
  readonly socket: Socket;
  answered(): string;
  /** Whether the service has closed the connection. */
  isDisconnected(): boolean;
}

describe("slow clients", () => {
  let app: TestApp;
  const attackers: Attacker[] = [];
  beforeEach(async () => {
    app = await startApp({ limits: LIMITS });
  });
  afterEach(async () => {
    for (const { socket } of attackers.splice(0)) socket.destroy();
    await app.close();
  });

  async function attack({
    first = "" as string | Uint8Array,
    drip = "",
    reads = true,
    url = app.url,
  }): Promise<Attacker> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let [text, isDisconnected] = ["", false];
    socket.on("error", () => {}); // The service disconnects it during a write.
    socket.once("close", () => {
      isDisconnected = true;
    });
    if (reads) socket.on("data", (chunk) => (text += chunk));
    await once(socket, "connect");
    socket.write(first);
    const dripping = drip && setInterval(() => socket.write(drip), 20);
    socket.once("close", () => clearInterval(dripping || undefined));
    const attacker = { socket, answered: () => text, isDisconnected: () => isDisconnected };
    attackers.push(attacker);
    return attacker;
  }
  const attackTogether = (how: Parameters<typeof attack>[0]) =>
    Promise.all(Array.from({ length: EACH }, () => attack(how)));

  for (const [title, how, answer] of [
    ["send nothing", {}, "408"],
    ["drip a body", { first: `${PUT}{`, drip: " " }, "408"],
  ] as const) {
    it(`are disconnected with ${answer} when they ${title}, while others are served, and leave nothing open`, async () => {
      const slow = await attackTogether(how);

      const others = await Promise.all(
        Array.from({ length: EACH }, (_, i) => app.call("PUT", `/api/jobs/other-${i}`, {})),
      );
      await eventually(() => slow.every((one) => one.isDisconnected()), "all slow clients to be disconnected");

      expect(others.map(({ status }) => status)).to.deep.equal(Array(EACH).fill(201));
      for (const one of slow) expect(one.answered()).to.match(new RegExp(`^HTTP/1.1 ${answer} `));
      for (const one of attackers.splice(0)) one.socket.destroy();
      await eventually(async () => (await app.connections()) <= EACH, "their connections to be released");
    });
  }

  it("do not delay a shutdown by a connection without any data", async () => {
    const unlimited = await startApp({ limits: { ...LIMITS, headMs: 600_000, requestMs: 600_000 } });
    const { isDisconnected } = await attack({ url: unlimited.url });
    await eventually(async () => (await unlimited.connections()) === 1, "the clients to be connected");

    await unlimited.close();

    await eventually(isDisconnected, "the connection to be closed");
  });

  it("are disconnected at once above the maximum number of connections, until others have closed", async () => {
    const own = await startApp({ maxConnections: EACH });
    const { url } = own;
    const within = await Promise.all(Array.from({ length: EACH }, () => attack({ first: HEAD, url })));
    await eventually(async () => (await own.connections()) === EACH, "all clients to be connected");

    const beyond = await attack({ url });
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
    const large = await attack({ first: `${HEAD}X-A: ${"a".repeat(20_000)}\r\n\r\n` });

    await eventually(() => large.isDisconnected(), "the connection to be closed");

    expect(large.answered()).to.match(/^HTTP\/1.1 431 /);
  });
});
