import { randomUUID } from "node:crypto";
import diagnosticsChannel from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { expect } from "chai";
import { connectDatabase } from "../../../src/models/db/database.ts";
import { readAll } from "../../../src/models/db/readAll.ts";
import { mongoUri, startMongod } from "../../support/servers.ts";

describe("Database.checkPrepared", () => {
  it("tells of indexes that are missing, and of a MongoDB that does not say which there are, in words of their own", async () => {
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    const check = () =>
      database.checkPrepared().then(
        () => "all is well",
        (error: Error) => error.message,
      );

    const before = await check();
    await database.createIndexes();
    const after = await check();
    await database.close();
    const closed = await check();

    expect(before).to.match(/^MongoDB lacks indexes on jobs, .*: run `npm run release` once/);
    expect(after).to.equal("all is well");
    expect(closed).to.equal("MongoDB does not say which indexes it has: see that it runs, then start again.");
  });

  it("takes an index for missing that lets a key in twice, and createIndexes says in a sentence what is in its way", async () => {
    const database = await connectDatabase(await mongoUri(`test-${randomUUID()}`));
    await database.createIndexes();
    const { jobs } = database.collections;
    await jobs.dropIndex("jobId_1");
    await jobs.createIndex({ jobId: 1 }); // as sh.shardCollection makes it
    const said = (act: () => Promise<void>) => act().catch((error: Error) => `${error.name}: ${error.message}`);

    const started = await said(() => database.checkPrepared());
    const conflict = await said(() => database.createIndexes());
    await jobs.dropIndex("jobId_1");
    await jobs.insertMany([{ jobId: "a" }, { jobId: "a" }] as never[]);
    const twice = await said(() => database.createIndexes());
    await database.close();

    expect(started).to.match(/^StartError: MongoDB lacks indexes on jobs: run `npm run release` once/);
    expect(conflict).to.match(/^StartError: An index of jobs is there with other options .*: drop it, .*"jobId_1"/);
    expect(twice).to.match(/^StartError: .* jobs .* twice.*jobId: "a"/);
  });
});

describe("connectDatabase", () => {
  it("says in a sentence what a MongoDB has answered that refuses the password", async () => {
    const mongod = await startMongod(["--auth"]);
    const uri = mongod.url.replace("//", "//somebody:secret@");

    const said = await connectDatabase(uri).catch((error: Error) => error.message);

    expect(said).to.match(
      /^MongoDB at 127\.0\.0\.1:\d+ cannot be used \(AuthenticationFailed\): correct MONGODB_URI .*\.$/,
    );
    await mongod.remove();
  });

  it("keeps to the primary and to a majority whatever the address says: no answer goes back behind an earlier one", async () => {
    const url = new URL(await mongoUri(`test-${randomUUID()}`));
    const said = { readPreference: "secondary", readConcernLevel: "local", w: "1", journal: "false" };
    for (const [name, value] of Object.entries(said)) url.searchParams.set(name, value);
    const database = await connectDatabase(url.href);
    const { jobs } = database.collections;

    const found = await jobs.findOne({ jobId: "none" }); // there is no secondary here

    expect(found).to.equal(null);
    expect(jobs.readPreference?.mode).to.equal("primary");
    expect(jobs.readConcern?.level).to.equal("majority");
    expect(jobs.writeConcern).to.include({ w: "majority", j: true });
    await database.close();
  });

  it("answers what was said to a connection that is closing, which the driver alone would wait for without end", async () => {
    const sockets: Socket[] = [];
    const onSocket = ({ socket }: { socket: Socket }) => sockets.push(socket);
    const channel = diagnosticsChannel.channel("net.client.socket");
    channel.subscribe(onSocket as diagnosticsChannel.ChannelListener);
    const database = await connectDatabase(await mongoUri(`test-${randomUUID()}`));
    await readAll(database.collections.jobs, {}); // none of its connections is in use any longer
    channel.unsubscribe(onSocket as diagnosticsChannel.ChannelListener);

    for (const socket of sockets) socket.destroy(); // it is known to be closed a turn of the event loop later
    const lost = await database.ping().catch((error: unknown) => error);

    expect(lost).to.include({ code: "unavailable" });
    await database.ping();
    await database.close();
  });
});
