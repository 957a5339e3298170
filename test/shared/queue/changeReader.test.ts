import { once } from "node:events";
import { expect } from "chai";
import pino from "pino";
import { readChanges } from "../../../src/shared/queue/changeReader.ts";
import { readerConnection } from "../../../src/shared/queue/redis.ts";
import { freeze } from "../../support/freeze.ts";
import { startRedis } from "../../support/servers/servers.ts";

describe("readChanges", () => {
  it("reports one disconnection while Redis hangs, and drops the connection once", async () => {
    const redis = await startRedis();
    const connection = readerConnection(redis, pino({ level: "silent" }));
    const calls: string[] = [];
    const { promise: live, resolve: onConnected } = Promise.withResolvers<void>();
    const onDisconnected = () => void calls.push("disconnected");
    const listener = { onConnected: () => onConnected(), onDisconnected, onChanges: () => {} };
    const reading = readChanges(connection, "test", [listener], { blockMs: 100, graceMs: 900 });
    await live;

    const closed = once(connection, "close");
    await freeze(redis.pid);
    await closed;
    const callsWhileHanging = [...calls];
    redis.signal("SIGCONT");
    await reading.close();
    await redis.remove();

    expect(callsWhileHanging).to.deep.equal(["disconnected"]);
  });
});
