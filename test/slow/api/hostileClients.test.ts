import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { MemoryBudget } from "../../../src/api/middleware/memoryBudget.ts";
import { startApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { HEAD, PUT, SlowClients } from "../../support/slowClients.ts";

/** The first thousand bytes of a compressed body that decompress to almost a million. */
const PUT_PACKED = Buffer.concat([
  Buffer.from(`${PUT.trimEnd()}\r\nContent-Encoding: gzip\r\n\r\n`),
  gzipSync(`{"name":"${"x".repeat(1_000_000)}"}`).subarray(0, -10),
]);

describe("slow clients", () => {
  const clients = new SlowClients();
  const isLeft = async () => (await clients.app.connections()) <= 2; // the test's own connections are kept alive

  clients.areDisconnected([
    ["drip a head", { first: `${HEAD}X-A: `, drip: "a" }],
    ["drip headers", { first: HEAD, drip: "X-A: a\r\n" }],
    ["withhold a body", { first: `${PUT}{` }],
  ]);

  it("are disconnected when they do not read a response", async () => {
    const output = { text: "x".repeat(3_000_000) };
    await clients.app.call("PUT", "/api/jobs/large", {});
    const steps = Array.from({ length: 3 }, (_, i) => `/api/jobs/large/steps/step-${i}`);
    for (const step of steps) await clients.app.call("PUT", step, { stepName: "Large", output });
    const answers = 10; // together more than the socket buffers of both ends hold
    const first = "GET /api/jobs/large?include=steps HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(answers);

    const slow = await Promise.all([1, 2].map(() => clients.attack({ first, reads: false })));
    await Promise.all(slow.map(({ socket }) => once(socket, "readable")));
    const { body } = await clients.app.call("GET", "/api/jobs/large?include=steps"); // a client that reads the response
    await eventually(isLeft, "the slow clients to be disconnected");
    for (const one of slow) one.socket.on("data", () => {});
    await eventually(() => slow.every((one) => one.isDisconnected()), "the clients to notice");

    expect(body.steps).to.have.length(3);
    for (const { socket } of slow) expect(socket.bytesRead).to.be.below(answers * 9_000_000);
  });

  it("are disconnected, the slowest first, when their bodies together exceed the memory budget", async () => {
    const own = await startApp({ bodies: new MemoryBudget({ maxBytes: 2_500_000, graceMs: 0 }) });
    const open = async () => {
      const one = await clients.attack({ first: `${PUT}{`, url: own.url });
      await eventually(
        async () => (await own.connections()) >= clients.attackers.length,
        "the clients to be connected",
      );
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
    const slow = await Promise.all([1, 2, 3].map(() => clients.attack({ first: PUT_PACKED, url: own.url })));

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
    const senders = await Promise.all([1, 2, 3].map(() => clients.attack({ first: PUT_PACKED, url: own.url })));
    await eventually(() => reserved.size === senders.length, "the bodies to be read");

    for (const { socket } of senders) socket.destroy();

    await eventually(() => reserved.size === 0, "the bodies to be released");
    await own.close();
  });
});
