import { expect } from "chai";
import { mongo } from "mongoose";
import { connectDatabase, type Database } from "../../../../src/models/database.ts";
import { openStores, type Stores } from "../../../../src/models/stores.ts";
import { systemClock } from "../../../../src/shared/clock.ts";
import { AppError } from "../../../../src/shared/errors.ts";
import { eventually } from "../../../support/eventually.ts";
import { type ReplicaSet, startReplicaSet } from "../../../support/servers/servers.ts";

describe("readFromCaughtUpPrimary", function () {
  this.timeout(180_000); // The test starts three servers and waits for an election.
  let set: ReplicaSet;
  let database: Database;
  let stores: Stores;
  before(async () => {
    set = await startReplicaSet(3);
    database = await connectDatabase(set.url);
    await database.prepare();
    stores = openStores(database, systemClock, { staleAfterSeconds: 60 });
  });
  after(async () => {
    await database.close();
    await set.remove();
  });

  const ask = async (host: string, command: object) => {
    const client = await mongo.MongoClient.connect(`mongodb://${host}/?directConnection=true`);
    return client
      .db("admin")
      .command(command)
      .finally(() => client.close());
  };
  /** A member that stops replicating lacks later writes, but still votes. */
  const follow = (host: string, mode: "off" | "alwaysOn") =>
    ask(host, { configureFailPoint: "stopReplProducer", mode });

  it("waits until a new primary has all acknowledged writes", async () => {
    const { primary, hosts } = await ask(new URL(set.url.replace(/,[^/]*/, "")).host, { hello: 1 });
    const [other, lagging] = (hosts as string[]).filter((host) => host !== primary) as [string, string];
    await eventually(async () => (await ask(other, { hello: 1 })).secondary, "the other to have copied all");
    await follow(lagging, "alwaysOn");
    await stores.jobs.put("made-late", {});
    await set.killPrimary();
    await eventually(async () => (await ask(other, { hello: 1 })).isWritablePrimary, "the other to be the primary");

    const meanwhile = await stores.jobs.find("made-late").catch((error: unknown) => error);
    await follow(lagging, "off");
    const job = await eventually(() => stores.jobs.find("made-late").catch(() => null), "it to be read from", 90_000);

    expect(meanwhile).to.be.instanceOf(AppError).with.property("code", "unavailable");
    expect(job).to.have.property("jobId", "made-late");
  });
});
