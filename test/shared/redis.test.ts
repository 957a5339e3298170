import { expect } from "chai";
import pino from "pino";
import { connectProducer } from "../../src/shared/redis.ts";
import { startRedis } from "../support/servers.ts";

describe("connectProducer", () => {
  for (const [title, credentials] of [
    ["none is given", ""],
    ["another is given", ":secret@"],
  ] as const) {
    it(`says in a sentence that Redis wants a password when ${title}`, async () => {
      const redis = await startRedis(["--requirepass", "right"]);
      const url = redis.url.replace("//", `//${credentials}`);

      const said = await connectProducer({ url }, pino({ level: "silent" })).catch((error: Error) => error.message);

      expect(said).to.match(
        /^Redis at 127\.0\.0\.1:\d+ cannot be used \(it wants a password\): correct REDIS_URL .*\.$/,
      );
      await redis.remove();
    });
  }
});
