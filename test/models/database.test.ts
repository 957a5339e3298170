import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { connectDatabase } from "../../src/models/database.ts";
import { mongoUri } from "../support/servers.ts";

describe("Database.checkIndexes", () => {
  it("tells of indexes that are missing, and of a MongoDB that does not say which there are, in words of their own", async () => {
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    const check = () =>
      database.checkIndexes().then(
        () => "all is well",
        (error: Error) => error.message,
      );

    const before = await check();
    await database.createIndexes();
    const after = await check();
    await database.close();
    const closed = await check();

    expect(before).to.match(/^MongoDB lacks indexes on ".*": run `npm run release` once/);
    expect(after).to.equal("all is well");
    expect(closed).to.equal("MongoDB does not say which indexes it has: see that it runs, then start again.");
  });
});
