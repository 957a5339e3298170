import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { listen } from "../../src/api/server.ts";
import { startApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { countAlive } from "../support/garbage.ts";

/** Longer than any test, so that no limit ends a connection. */
const LIMITS = { headMs: 600_000, requestMs: 600_000, responseMs: 600_000, checkIntervalMs: 50 };

describe("stopping web process", () => {
  it("closes a connection without any data, like an idle one", async () => {
    const app = await startApp({ limits: LIMITS });
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1").resume();
    await eventually(async () => (await app.connections()) === 1, "the connection to be there");
    const closed = once(socket, "close");

    await app.close();

    await closed;
    expect(socket.bytesRead).to.equal(0);
  });

  it("keeps nothing of the app in memory", async () => {
    const listener = await closedListener();

    expect(await countAlive([listener])).to.equal(0);
  });
});

/** Returns the listener of a server that has closed. The function's own references end with it. */
async function closedListener(): Promise<WeakRef<object>> {
  const listener = () => {};
  const server = await listen(listener, { port: 0, host: "127.0.0.1", isStopping: () => true, idleGraceMs: 1 });
  await server.close();
  return new WeakRef(listener);
}
