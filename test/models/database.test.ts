import { randomUUID } from "node:crypto";
import diagnosticsChannel from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { expect } from "chai";
import { connectDatabase } from "../../src/models/database.ts";
import { mongoUri, startMongod } from "../support/servers/servers.ts";

describe("Database.checkPrepared", () => {
  it("reports missing indexes and failures to list indexes with different messages", async () => {
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    const check = () =>
      database.checkPrepared().then(
        () => "all is well",
        (error: Error) => error.message,
      );

    const before = await check();
    await database.prepare();
    const after = await check();
    await database.close();
    const closed = await check();

    expect(before).to.match(/^MongoDB lacks indexes on jobs, .*: run `npm run release` once/);
    expect(after).to.equal("all is well");
    expect(closed).to.equal("The indexes of MongoDB cannot be read. Check that MongoDB is running, then start again.");
  });

  it("reports an index that is not unique as missing, and createIndexes explains the conflict", async () => {
    const database = await connectDatabase(await mongoUri(`test-${randomUUID()}`));
    await database.prepare();
    const { jobs } = database.collections;
    await jobs.dropIndex("jobId_1");
    await jobs.createIndex({ jobId: 1 }); // This is the index that sh.shardCollection creates.
    const said = (act: () => Promise<void>) => act().catch((error: Error) => `${error.name}: ${error.message}`);

    const started = await said(() => database.checkPrepared());
    const conflict = await said(() => database.prepare());
    await jobs.dropIndex("jobId_1");
    await jobs.insertMany([{ jobId: "a" }, { jobId: "a" }] as never[]);
    const twice = await said(() => database.prepare());
    await database.close();

    expect(started).to.match(/^StartError: MongoDB lacks indexes on jobs: run `npm run release` once/);
    expect(conflict).to.match(
      /^StartError: An index of the collection jobs has other options .* Drop the index, .*"jobId_1"/,
    );
    expect(twice).to.match(/^StartError: Two documents of the collection jobs .*jobId: "a"/);
  });
});

describe("connectDatabase", () => {
  it("explains MongoDB's error if the password is wrong", async () => {
    const mongod = await startMongod(["--auth"]);
    const uri = mongod.url.replace("//", "//somebody:secret@");

    const said = await connectDatabase(uri).catch((error: Error) => error.message);

    expect(said).to.match(
      /^MongoDB at 127\.0\.0\.1:\d+ cannot be used \(AuthenticationFailed\): correct MONGODB_URI .*\.$/,
    );
    await mongod.remove();
  });

  it("uses the primary and majority concerns whatever the URI says, so that reads never go back", async () => {
    const url = new URL(await mongoUri(`test-${randomUUID()}`));
    const said = { readPreference: "secondary", readConcernLevel: "local", w: "1", journal: "false" };
    for (const [name, value] of Object.entries(said)) url.searchParams.set(name, value);
    const database = await connectDatabase(url.href);
    const { jobs } = database.collections;

    const found = await jobs.findOne({ jobId: "none" }); // This server has no secondary.

    expect(found).to.equal(null);
    expect(jobs.readPreference?.mode).to.equal("primary");
    expect(jobs.readConcern?.level).to.equal("majority");
    expect(jobs.writeConcern).to.include({ w: "majority", j: true });
    await database.close();
  });

  it("fails commands on a connection that is closing, for which the driver alone would wait forever", async () => {
    const sockets: Socket[] = [];
    const onSocket = ({ socket }: { socket: Socket }) => sockets.push(socket);
    const channel = diagnosticsChannel.channel("net.client.socket");
    channel.subscribe(onSocket as diagnosticsChannel.ChannelListener);
    const database = await connectDatabase(await mongoUri(`test-${randomUUID()}`));
    await database.documents.jobs.find({}); // After this, none of its connections is in use.
    channel.unsubscribe(onSocket as diagnosticsChannel.ChannelListener);

    for (const socket of sockets) socket.destroy(); // The driver notices this one turn of the event loop later.
    const lost = await database.ping().catch((error: unknown) => error);

    expect(lost).to.include({ code: "unavailable" });
    await database.ping();
    await database.close();
  });
});
