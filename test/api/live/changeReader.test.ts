import { once } from "node:events";
import { expect } from "chai";
import pino from "pino";
import { readChanges } from "../../../src/api/live/changeReader.ts";
import { readerConnection } from "../../../src/shared/queue/redis.ts";
import { freeze } from "../../support/freeze.ts";
import { startRedis } from "../../support/servers.ts";

describe("readChanges", () => {
  it("is lost once while Redis hangs, and lets that connection go once", async function () {
    this.timeout(30_000);
    const redis = await startRedis();
    const connection = readerConnection(redis, pino({ level: "silent" }));
    const told: string[] = [];
    const { promise: live, resolve: onLive } = Promise.withResolvers<void>();
    const onLost = () => void told.push("lost");
    const reading = readChanges(connection, "test", { onLive: () => onLive(), onLost, onChanges: () => {} });
    await live;

    const closed = once(connection, "close");
    await freeze(redis.pid);
    await closed;
    const before = [...told];
    redis.signal("SIGCONT");
    await reading.close();
    await redis.remove();

    expect(before).to.deep.equal(["lost"]);
  });
});
