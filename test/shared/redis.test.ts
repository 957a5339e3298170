import { expect } from "chai";
import pino from "pino";
import { connectProducer } from "../../src/shared/redis.ts";
import { startRedis } from "../support/servers.ts";

describe("connectProducer", () => {
  const fails: [string, string, string, string][] = [
    ["wants a password when none is given", "//", "", "it wants a password"],
    ["has another password", "//:secret@", "", "it does not know the user, or the password is another"],
    ["does not know the user", "//nobody:right@", "", "it does not know the user, or the password is another"],
    ["does not have the database", "//:right@", "/99", "it has no database of this number"],
  ];
  for (const [title, credentials, database, why] of fails) {
    it(`says in a sentence that Redis ${title}`, async () => {
      const redis = await startRedis(["--requirepass", "right"]);
      const url = redis.url.replace("//", credentials) + database;

      const said = await connectProducer({ url }, pino({ level: "silent" })).catch((error: Error) => error.message);

      expect(said).to.match(/^Redis at 127\.0\.0\.1:\d+ cannot be used \([^)]*\): correct REDIS_URL .*\.$/);
      expect(said).to.include(`(${why})`);
      await redis.remove();
    });
  }
});
