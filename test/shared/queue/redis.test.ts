import { once } from "node:events";
import { expect } from "chai";
import pino from "pino";
import { connectProducer, readerConnection } from "../../../src/shared/queue/redis.ts";
import { freePort, startRedis } from "../../support/servers/servers.ts";

describe("connectProducer", () => {
  const anotherUser = "the user or the password is wrong";
  const noDatabase = "it has no database with this number";
  const FEW = ["--user", "few", "on", ">right", "~*", "+@all", "-select"];
  const fails: [title: string, credentials: string, database: string, why: string, ...options: string[]][] = [
    ["needs a password when none is given", "", "", "it requires a password"],
    ["has another password", ":secret@", "", anotherUser],
    ["does not know the user", "nobody:right@", "", anotherUser],
    ["does not have the database", ":right@", "/99", noDatabase],
    ["does not have a database with so large a number", ":right@", `/${"9".repeat(20)}`, noDatabase],
    ["denies commands to its user", "few:right@", "/1", "its user lacks a required permission", ...FEW],
    ["does not support PING", ":right@", "", "it answers ERR", "--rename-command", "PING", ""],
  ];
  for (const [title, credentials, database, why, ...options] of fails) {
    it(`reports in one sentence that Redis ${title}`, async () => {
      const redis = await startRedis(["--requirepass", "right", ...options]);
      const url = redis.url.replace("//", `//${credentials}`) + database;

      const message = await connectProducer({ url }, pino({ level: "silent" })).catch((error: Error) => error.message);

      expect(message).to.match(/^Redis at 127\.0\.0\.1:\d+ cannot be used \([^)]*\): correct REDIS_URL .*\.$/);
      expect(message).to.include(`(${why})`);
      await redis.remove();
    });
  }

  it("drops a connection to a read-only Redis once, however many commands are pending", async () => {
    const redis = await startRedis(["--replicaof", "127.0.0.1", String(await freePort())]);
    const connection = await connectProducer({ url: redis.url }, pino({ level: "silent" }));
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);

    const writes = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => connection.set("a", n)));
    await once(connection, "ready");
    process.off("warning", note);
    connection.disconnect();
    await redis.remove();

    expect(writes.map(({ status }) => status)).to.not.include("fulfilled");
    expect(warnings).to.deep.equal([]); // about listeners that each drop would add
  });
});

describe("readerConnection", () => {
  it("logs nothing when a connection is closed while it connects, as after a failed start", async () => {
    const redis = await startRedis();
    const lines: string[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });

    for (let ticks = 0; ticks < 20; ticks++) {
      const connection = readerConnection({ url: redis.url }, log);
      const ended = new Promise((resolve) => connection.once("end", resolve));
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => process.nextTick(resolve));
      connection.disconnect();
      await ended;
    }

    expect(lines).to.deep.equal([]);
    await redis.remove();
  });
});
