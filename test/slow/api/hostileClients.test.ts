import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { MemoryBudget } from "../../../src/api/middleware/memoryBudget.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";

/**
 * Shorter than in production, but long enough for the honest clients of this process: after a stall of the machine the
 * server checks its limits before it reads what they have sent.
 */
const HEAD = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
const EACH = 25;
const LIMITS = { headMs: 1_200, requestMs: 1_800, responseMs: 1_200, checkIntervalMs: 50 };
const PUT =
  "PUT /api/jobs/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
/** The first thousand bytes of a compressed body that decompress to almost a million. */
const PUT_PACKED = Buffer.concat([
  Buffer.from(`${PUT.trimEnd()}\r\nContent-Encoding: gzip\r\n\r\n`),
  gzipSync(`{"name":"${"x".repeat(1_000_000)}"}`).subarray(0, -10),
]);

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
  const isLeft = async () => (await app.connections()) <= 2; // the test's own connections are kept alive

  const attackTogether = (how: Parameters<typeof attack>[0]) =>
    Promise.all(Array.from({ length: EACH }, () => attack(how)));

  for (const [title, how, answer] of [
    ["drip a head", { first: `${HEAD}X-A: `, drip: "a" }, "408"],
    ["drip headers", { first: HEAD, drip: "X-A: a\r\n" }, "408"],
    ["withhold a body", { first: `${PUT}{` }, "408"],
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

  it("are disconnected when they do not read a response", async () => {
    const output = { text: "x".repeat(3_000_000) };
    await app.call("PUT", "/api/jobs/large", {});
    const steps = Array.from({ length: 3 }, (_, i) => `/api/jobs/large/steps/step-${i}`);
    for (const step of steps) await app.call("PUT", step, { stepName: "Large", output });
    const answers = 10; // together more than the socket buffers of both ends hold
    const first = "GET /api/jobs/large?include=steps HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(answers);

    const slow = await Promise.all([1, 2].map(() => attack({ first, reads: false })));
    await Promise.all(slow.map(({ socket }) => once(socket, "readable")));
    const { body } = await app.call("GET", "/api/jobs/large?include=steps"); // a client that reads the response
    await eventually(isLeft, "the slow clients to be disconnected");
    for (const one of slow) one.socket.on("data", () => {});
    await eventually(() => slow.every((one) => one.isDisconnected()), "the clients to notice");

    expect(body.steps).to.have.length(3);
    for (const { socket } of slow) expect(socket.bytesRead).to.be.below(answers * 9_000_000);
  });

  it("are disconnected, the slowest first, when their bodies together exceed the memory budget", async () => {
    const own = await startApp({ bodies: new MemoryBudget({ maxBytes: 2_500_000, graceMs: 0 }) });
    const open = async () => {
      const one = await attack({ first: `${PUT}{`, url: own.url });
      await eventually(async () => (await own.connections()) >= attackers.length, "the clients to be connected");
      return one;
    };
    const slow = [await open(), await open(), await open()];

    const { status } = await own.call("PUT", "/api/jobs/other", {});
    await eventually(() => slow[0]?.isDisconnected(), "the first client to be disconnected");

    expect(status).to.equal(201);
    expect(slow.map((one) => one.isDisconnected())).to.deep.equal([true, false, false]);
    for (const { socket } of slow) socket.destroy();
    await own.close();
  });

  it("are disconnected when their compressed bodies, each counted with the maximum size, exceed the memory budget", async () => {
    const own = await startApp({ bodies: new MemoryBudget({ maxBytes: 10_000_000, graceMs: 0 }) });
    const slow = await Promise.all([1, 2, 3].map(() => attack({ first: PUT_PACKED, url: own.url })));

    await eventually(() => slow.some((one) => one.isDisconnected()), "the first client to be disconnected");

    expect(slow.filter((one) => one.isDisconnected())).to.have.length(1);
    for (const { socket } of slow) socket.destroy();
    await own.close();
  });

  it("leave nothing in memory when they disconnect in the middle of a compressed body", async () => {
    const reserved = new Set<object>();
    const bodies = new MemoryBudget();
    bodies.reserve = (one) => {
      reserved.add(one);
      return () => reserved.delete(one);
    };
    const own = await startApp({ bodies });
    const clients = await Promise.all([1, 2, 3].map(() => attack({ first: PUT_PACKED, url: own.url })));
    await eventually(() => reserved.size === clients.length, "the bodies to be read");

    for (const { socket } of clients) socket.destroy();

    await eventually(() => reserved.size === 0, "the bodies to be released");
    await own.close();
  });
});
