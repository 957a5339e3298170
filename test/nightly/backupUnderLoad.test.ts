import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mongo } from "mongoose";
import { runCli } from "../cli/service.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { createJob, report, whole } from "../support/factories.ts";
import { MINUTES } from "../support/jobLives.ts";
import { mongoUri } from "../support/servers/servers.ts";

/** Enough that the backup takes some seconds, for the writers to write much in. */
const STORED_JOBS = 6_000 * (MINUTES > 0 ? 10 : 1);
const WRITERS = 6;
/** Jobs that are changed all the time, each by one writer. */
const BUSY_JOBS = 4;
/** The last record that the test writes. */
const LAST = "the-last";

type Stored = mongo.Document & { readonly _id: unknown };

const hash = (document: mongo.Document) => createHash("sha1").update(mongo.BSON.serialize(document)).digest("base64");
const nameOf = (collection: string, id: unknown) => `${collection}/${id}`;

/** Returns a large text that does not compress well, as an agent's output. */
const text = (bytes: number) => randomBytes(bytes / 2).toString("hex");

/** Every state that each record of a database has had, and whether it is there. */
class History {
  readonly #states = new Map<string, Set<string>>();
  readonly #deleted = new Set<string>();
  changes = 0;

  add(collection: string, document: Stored): void {
    const name = nameOf(collection, document._id);
    const states = this.#states.get(name) ?? new Set();
    this.#states.set(name, states.add(hash(document)));
  }

  delete(collection: string, id: unknown): void {
    this.#deleted.add(nameOf(collection, id));
  }

  has(collection: string, document: Stored): boolean {
    return this.#states.get(nameOf(collection, document._id))?.has(hash(document)) ?? false;
  }

  /** Returns the names of all records that were never deleted. */
  get kept(): string[] {
    return [...this.#states.keys()].filter((name) => !this.#deleted.has(name));
  }
}

describe("signalbox backup beside processes that write", function () {
  this.timeout(120_000 + MINUTES * 60_000);
  let app: TestApp;
  let source: mongo.MongoClient;
  let target: mongo.MongoClient;
  let targetUri: string;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-backup-"));
  const file = join(folder, "all.backup");
  const collections = () => Object.keys(app.database.collections).filter((name) => name !== "leases");

  before(async () => {
    const uri = await mongoUri(`backed-up-${randomUUID()}`);
    targetUri = await mongoUri(`restored-${randomUUID()}`);
    app = await startApp({ mongo: uri });
    source = await mongo.MongoClient.connect(uri);
    target = await mongo.MongoClient.connect(targetUri);
    await storeJobs();
  });
  after(async () => {
    await app.close();
    for (const client of [source, target]) {
      await client.db().dropDatabase();
      await client.close();
    }
    rmSync(folder, { recursive: true });
  });

  /** Stores jobs with an output that is a payload of its own. */
  async function storeJobs(): Promise<void> {
    const { path, jobId } = await createJob(app, { metadata: { tenant: "acme" } });
    await report(app, path, "write", { ...whole(100), status: "completed", output: { text: text(4_000) } });
    const [jobs, payloads] = ["jobs", "payloads"].map((name) => source.db().collection<Stored>(name)) as [
      mongo.Collection<Stored>,
      mongo.Collection<Stored>,
    ];
    const job = await jobs.findOne({ jobId });
    const payload = await payloads.findOne({ jobId });
    for (let i = 0; i < STORED_JOBS; i += 500) {
      const copies = Array.from({ length: 500 }, (_, j) => ({ id: `stored-${i + j}`, ref: new mongo.ObjectId() }));
      await payloads.insertMany(
        copies.map(({ id, ref }) => ({ ...payload, _id: ref, jobId: id, text: JSON.stringify({ text: text(8_000) }) })),
      );
      const output = (ref: mongo.ObjectId) => ({ payload: ref, length: 8_011 });
      await jobs.insertMany(
        copies.map(({ id, ref }) => {
          const [[key, step]] = Object.entries(job?.steps as Record<string, object>) as [[string, object]];
          const copy = { ...job, _id: new mongo.ObjectId(), jobId: id, output: output(ref) };
          return { ...copy, steps: { [key]: { ...step, output: output(ref) } } };
        }),
      );
    }
  }

  /** Collects every change of every record by the change stream of MongoDB, which contains the whole record after it. */
  async function follow(history: History): Promise<() => Promise<void>> {
    const db = source.db();
    const existing = new Set((await db.listCollections().toArray()).map(({ name }) => name));
    for (const name of collections()) {
      if (!existing.has(name)) await db.createCollection(name);
      await db.command({ collMod: name, changeStreamPreAndPostImages: { enabled: true } });
    }
    const stream = db.watch([], { fullDocument: "required" });
    await stream.tryNext(); // It is open now.
    for (const name of collections()) {
      for await (const document of db.collection<Stored>(name).find()) history.add(name, document);
    }
    const following = (async () => {
      for await (const change of stream) {
        if (!("ns" in change && "coll" in change.ns && "documentKey" in change)) continue;
        const { coll } = change.ns;
        history.changes++;
        if (change.operationType === "delete") history.delete(coll, change.documentKey._id);
        else if ("fullDocument" in change) history.add(coll, change.fullDocument as Stored);
        if ("fullDocument" in change && change.fullDocument?.jobId === LAST) break;
      }
      await stream.close();
    })();
    return async () => {
      await app.stores.jobs.put(LAST, {});
      await following;
    };
  }

  /** Creates, reports, completes and deletes jobs, and accepts hooks, until it is stopped. Returns how many writes it did. */
  async function write(busy: readonly string[], isDone: () => boolean): Promise<number> {
    let writes = 0;
    for (let i = 0; !isDone(); i++) {
      const path = busy[i % busy.length];
      if (path) await report(app, path, "work", { output: { i, text: text(50_000) }, message: `round ${i}` });
      else {
        const { path } = await createJob(app, { input: { text: text(i % 3 === 0 ? 40_000 : 400) } });
        await report(app, path, "one", { ...whole(40), progress: 40, output: { text: text(2_000) } });
        await report(app, path, "two", { ...whole(100), status: "completed", output: { text: text(40_000) } });
        if (i % 2 === 0) expect((await app.call("DELETE", path)).status).to.equal(200);
      }
      writes++;
    }
    return writes;
  }

  it("contains every record as it was at one moment, and restores them all with what they refer to", async () => {
    const busy = await Promise.all(Array.from({ length: BUSY_JOBS }, async () => (await createJob(app)).path));
    const history = new History();
    const finish = await follow(history);
    const before = history.kept;

    let isDone = false;
    const writing = Array.from({ length: WRITERS }, (_, i) => write(busy.slice(i, i + 1), () => isDone));
    const { code, stderr } = await runCli(["backup", file], { MONGODB_URI: app.mongoUri }).ended;
    isDone = true;
    const writes = await Promise.all(writing);
    await finish();
    const restored = await runCli(["restore", file], { MONGODB_URI: targetUri }).ended;

    expect([code, stderr, restored.code, restored.stderr]).to.deep.equal([0, "", 0, ""]);
    expect(Math.min(...writes)).to.be.greaterThan(10);
    const found = new Set<string>();
    const neverSo: string[] = [];
    const references: string[] = [];
    for (const name of collections()) {
      for await (const document of target.db().collection<Stored>(name).find()) {
        found.add(nameOf(name, document._id));
        if (!history.has(name, document)) neverSo.push(nameOf(name, document._id));
        for (const [id] of JSON.stringify(document).matchAll(/(?<="payload":")\w+/g)) {
          references.push(nameOf("payloads", id));
        }
      }
    }
    const kept = new Set(history.kept);

    expect(neverSo).to.deep.equal([]);
    expect(before.filter((name) => kept.has(name) && !found.has(name))).to.deep.equal([]);
    expect(references.filter((name) => !found.has(name))).to.deep.equal([]);
    expect(references).to.have.length.greaterThan(STORED_JOBS);
  });
});
