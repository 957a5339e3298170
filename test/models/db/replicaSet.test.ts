import { expect } from "chai";
import { mongo } from "mongoose";
import { ensureReplicaSet } from "../../../src/models/db/replicaSet.ts";
import { startMongod, type TestServer } from "../../support/servers/servers.ts";

const NAME = "ensured";
const WITHIN_MS = 60_000;

describe("ensureReplicaSet", () => {
  let server: TestServer;
  let client: mongo.MongoClient;
  before(async () => {
    server = await startMongod(["--replSet", NAME, "--setParameter", "enableTestCommands=1"]);
    client = new mongo.MongoClient(`mongodb://127.0.0.1:${server.port}/?directConnection=true`);
  });
  after(async () => {
    await client.close();
    await server.remove();
  });

  const admin = () => client.db("admin");
  /** Makes the mongod close the connections of the next commands, as it does when it becomes a removed member. */
  const closeConnections = (failCommands: readonly string[], times: number) =>
    admin().command({
      configureFailPoint: "failCommand",
      mode: { times },
      data: { failCommands, closeConnection: true },
    });
  const hostOf = async () => (await admin().command({ replSetGetConfig: 1 })).config.members[0].host;

  it("makes a mongod the primary of a set, although it closes connections while it starts", async () => {
    await closeConnections(["replSetGetConfig", "replSetInitiate"], 3);

    await ensureReplicaSet(NAME, server.port, WITHIN_MS);

    expect(await hostOf()).to.equal(`127.0.0.1:${server.port}`);
    expect(await admin().command({ hello: 1 })).to.include({ isWritablePrimary: true });
  });

  it("corrects the address of a set whose port has changed, although the mongod closes connections meanwhile", async () => {
    const { config } = await admin().command({ replSetGetConfig: 1 });
    const members = [{ ...config.members[0], host: `localhost:${server.port}` }];
    await admin().command({ replSetReconfig: { ...config, version: config.version + 1, members }, force: true });
    await closeConnections(["replSetGetConfig", "replSetReconfig"], 3);

    await ensureReplicaSet(NAME, server.port, WITHIN_MS);

    expect(await hostOf()).to.equal(`127.0.0.1:${server.port}`);
    expect(await admin().command({ hello: 1 })).to.include({ isWritablePrimary: true });
  });
});
