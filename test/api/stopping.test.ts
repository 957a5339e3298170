import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { startApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";

/** Longer than any test: nothing that waits for them passes. */
const LIMITS = { headMs: 600_000, requestMs: 600_000, responseMs: 600_000, checkIntervalMs: 50 };

describe("a web process that stops", () => {
  it("closes a connection that has sent nothing yet, as it does an idle one", async () => {
    const app = await startApp({ limits: LIMITS });
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1").resume();
    await eventually(async () => (await app.connections()) === 1, "the connection to be there");
    const closed = once(socket, "close");

    await app.close();

    await closed;
    expect(socket.bytesRead).to.equal(0);
  });
});
