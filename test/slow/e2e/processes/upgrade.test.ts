import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mongo } from "mongoose";
import sinon from "sinon";
import { startWebProcess } from "../../../../src/api/process.ts";
import { prepareDatabase } from "../../../../src/cli/commands/service/release.ts";
import { connectDatabase } from "../../../../src/models/db/database.ts";
import type { JobDoc } from "../../../../src/models/jobs/job.ts";
import { migrateSteps } from "../../../../src/models/jobs/migrations/migrateSteps.ts";
import type { PayloadDoc } from "../../../../src/models/jobs/payloads.ts";
import { parseConfig } from "../../../../src/shared/config/load.ts";
import { Lifecycle, StartError } from "../../../../src/shared/process/lifecycle.ts";
import { startWorkerProcess } from "../../../../src/workers/process.ts";
import { eventually } from "../../../support/eventually.ts";
import { mongoUri, redisUrl } from "../../../support/servers/servers.ts";
import { FAST_TIMINGS } from "../../../support/timings.ts";

const TOKEN = "a-hook-token-of-length";
const CONFIG = {
  hooks: {
    ...{ enabled: true, token: TOKEN, allowRequestSessionKey: true },
    mappings: [{ match: { path: "ci" }, messageTemplate: "Build {{build}}", name: "CI" }],
  },
  agents: { defaults: { runner: "echo", trackAsJob: true } },
  channels: { log: {} },
  session: { main: { channel: "log", to: "ops" } },
};

interface Fixture {
  readonly ids: Record<"first" | "second" | "waiting" | "mapped" | "woken", string>;
  readonly collections: Record<string, { indexes: (mongo.IndexDescription & { name: string })[]; documents: object[] }>;
}

/**
 * Reads the database of an earlier version: jobs in every state, two steps side by side, two finished runs of one session
 * with transcript and delivery, and waiting ones. Its times are moved so that it was written just now.
 */
function readFixture(name: string): Fixture {
  const text = readFileSync(new URL(`../../../fixtures/${name}.json`, import.meta.url), "utf8");
  const fixture = mongo.BSON.EJSON.parse(text) as Fixture;
  const newest = Math.max(
    ...fixture.collections.runs!.documents.map((run) => (run as { createdAt: Date }).createdAt.getTime()),
  );
  return moved(fixture, Date.now() - newest) as Fixture;
}

function moved(value: unknown, byMs: number): unknown {
  if (value instanceof Date) return new Date(value.getTime() + byMs);
  if (Array.isArray(value)) return value.map((item) => moved(item, byMs));
  if (typeof value !== "object" || value === null || "_bsontype" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, moved(item, byMs)]));
}

/** Names of databases of earlier versions, and their fixtures. */
const VERSIONS = [
  ["of the first version", "firstVersion"],
  ["with steps in a collection of their own", "stepsInOwnCollection"],
] as const;

for (const [title, fixture] of VERSIONS)
  describe(`the database ${title}`, () => {
    const { ids, collections } = readFixture(fixture);
    let lifecycle: Lifecycle;
    let client: mongo.MongoClient;
    let dir: string;
    let env: Record<string, string>;
    beforeEach(async () => {
      lifecycle = new Lifecycle();
      const uri = await mongoUri(`test-${randomUUID()}`);
      client = await mongo.MongoClient.connect(uri);
      for (const [name, { indexes, documents }] of Object.entries(collections)) {
        if (indexes.length > 0) await client.db().collection(name).createIndexes(indexes);
        if (documents.length > 0) await client.db().collection(name).insertMany(documents);
      }
      dir = mkdtempSync(join(tmpdir(), "signalbox-upgrade-"));
      const file = join(dir, "signalbox.json5");
      writeFileSync(file, JSON.stringify({ ...CONFIG, redis: { prefix: `upgrade-${randomUUID().slice(0, 8)}` } }));
      const servers = { MONGODB_URI: uri, REDIS_URL: await redisUrl(), SIGNALBOX_CONFIG: file };
      env = { ...servers, HOST: "127.0.0.1", PORT: "0", LOG_LEVEL: "silent" };
    });
    afterEach(async () => {
      await lifecycle.close();
      await client.close();
      rmSync(dir, { recursive: true });
    });
    /** Starts like the web process. */
    const startWeb = async () => {
      const { ready } = await startWebProcess(lifecycle, env, FAST_TIMINGS);
      return (ready as { url: string }).url;
    };
    /** Migrates like `npm run release`. */
    const release = () => prepareDatabase(env.MONGODB_URI as string, parseConfig(undefined, {}));
    const call = async (url: string, method: string, path: string, body?: object, headers: object = {}) => {
      const sent = body && { body: JSON.stringify(body) };
      const response = await fetch(url + path, {
        method,
        headers: { "Content-Type": "application/json", ...headers },
        ...sent,
      });
      return { status: response.status, body: JSON.parse(await response.text()) };
    };

    it("is refused until npm run release has created the missing indexes", async () => {
      const refused = await startWeb().catch((error: unknown) => error);
      await lifecycle.close();
      lifecycle = new Lifecycle();
      await release();
      const url = await startWeb();

      expect(refused).to.be.instanceOf(StartError);
      expect((refused as StartError).message).to.match(/lacks indexes on .*`npm run release` once/);
      expect((await call(url, "GET", "/readyz")).status).to.equal(200);
    });

    it("is refused while its steps are in their own collection", async () => {
      const database = await connectDatabase(env.MONGODB_URI as string);
      await database.createIndexes();
      await database.close();

      const refused = await startWeb().catch((error: unknown) => error);

      expect(refused).to.be.instanceOf(StartError);
      expect((refused as StartError).message).to.match(
        /stop all processes of that version, run `npm run release` once/,
      );
    });

    for (const [act, nth] of [
      ["insertMany", 0],
      ["bulkWrite", 0],
      ["bulkWrite", 1],
      ["bulkWrite", 3],
      ["drop", 0],
      ["drop", 1],
    ] as const) {
      it(`is migrated completely by a second run when the first was interrupted at ${act}, call ${nth}`, async () => {
        const db = client.db();
        const jobs = db.collection<JobDoc>("jobs");
        const payloads = db.collection<PayloadDoc>("payloads");
        const stub = sinon.stub(mongo.Collection.prototype, act as "drop").callThrough();
        stub.onCall(nth).rejects(new Error("interrupted"));
        const folding = migrateSteps(jobs, payloads, { staleAfterSeconds: 900, batchSize: 2 });
        const interrupted = await folding.catch((error: Error) => error.message);
        stub.restore();
        await release();
        await release();
        const url = await startWeb();

        const { body } = await call(url, "GET", "/api/jobs/running?include=steps");
        expect(interrupted).to.equal("interrupted");
        expect(body.steps).to.have.length(3);
        expect(body.steps[0].output).to.deep.equal({ bytes: 7 });
        expect(body.currentStep).to.include({ stepKey: "unpack", progress: 50, message: "Half of it" });
        expect((await db.listCollections({ name: { $in: ["steps", "deletions"] } }).toArray()).length).to.equal(0);
        const outputs = collections.steps?.documents.filter((step) => (step as { output: unknown }).output !== null);
        const names = (await payloads.find({ text: { $not: /xxxx/ } }).toArray()).length;
        expect(names).to.equal(outputs?.length);
      });
    }

    it("is left unchanged when the steps of a job are too large for its document", async () => {
      const steps = client.db().collection("steps");
      const like = await steps.findOne({ stepKey: "download" });
      const { _id, ...fields } = like as NonNullable<typeof like>;
      const message = "m".repeat(60_000);
      await steps.insertMany(Array.from({ length: 220 }, (_, i) => ({ ...fields, stepKey: `key-${i}`, message })));
      // The release has written the words of names by then, which earlier versions ignore.
      const readJobs = () =>
        client
          .db()
          .collection("jobs")
          .find({}, { projection: { nameWords: 0 } })
          .toArray();
      const jobs = await readJobs();

      const refused = await release().catch((error: unknown) => error);

      expect(refused).to.be.instanceOf(StartError);
      expect((refused as StartError).message).to.match(/jobs "running" take more than 12 MB/);
      expect(await readJobs()).to.deep.equal(jobs);
      expect(await steps.countDocuments({ stepKey: /^key-/ })).to.equal(220);
    });

    it("returns its jobs, parallel steps, runs, transcripts, deliveries and Idempotency-Keys unchanged", async () => {
      await release();
      const url = await startWeb();
      const get = async (path: string) => (await call(url, "GET", path)).body;

      const job = await get("/api/jobs/running?include=steps");
      const { jobs } = await get("/api/jobs?metadata.nested.key=v&fields=name,status,progress,currentStep");
      const statuses = (await get("/api/stats")).jobs;
      const run = await get(`/api/runs/${ids.first}`);
      const { messages } = await get("/api/sessions/hook:acme/messages");
      const again = await call(
        ...([url, "POST", "/hooks/agent"] as const),
        {
          message: "Look at the export.",
          name: "Issues",
          sessionKey: "hook:acme",
          deliver: true,
          channel: "log",
          to: "ops",
        },
        { Authorization: `Bearer ${TOKEN}`, "Idempotency-Key": "first-key" },
      );

      expect(job).to.deep.include({
        name: "Import March",
        progress: 40,
        input: { source: "s3://bucket/a", $where: 1 },
      });
      expect(job.currentStep).to.include({ stepKey: "unpack", progress: 50, attempts: 2, message: "Half of it" });
      expect(job.steps.map(({ stepKey }: { stepKey: string }) => stepKey)).to.deep.equal([
        "download",
        "left",
        "unpack",
      ]);
      expect(job.steps[0]).to.deep.include({ status: "completed", output: { bytes: 7 } });
      expect(jobs).to.have.length(1);
      expect(jobs[0].currentStep.stepKey).to.equal("unpack");
      expect(statuses).to.include({ total: 7, failed: 1, completed: 3, running: 3 });
      expect(run).to.include({ status: "completed" });
      expect(run.deliveries[0]).to.include({ channel: "log", to: "ops", state: "sent" });
      expect(messages).to.have.length(4);
      expect(again.status).to.equal(202);
      expect(again.body.runId).to.equal(ids.first);
    });

    it("is searched without ambiguity: by keys and values with equals signs, by names in any case", async () => {
      const jobs = client.db().collection("jobs");
      const like = await jobs.findOne({ jobId: "running" });
      const metadata = { metadata: '{"a=b":"c"}', metadataTerms: ["a=b=c"] };
      const _id = new mongo.ObjectId();
      await jobs.insertOne({ ...like, _id, jobId: "signs", name: "Straße", nameKey: "straße", ...metadata });
      await release();
      const url = await startWeb();
      const found = async (query: string) =>
        (await call(url, "GET", `/api/jobs?${query}&fields=name`)).body.jobs.map(({ name }: { name: string }) => name);

      expect(await found("metadata.a=b%3Dc")).to.deep.equal([]);
      expect(await found("metadata.a%3Db=c")).to.deep.equal(["Straße"]);
      expect(await found("name=STRASS")).to.deep.equal(["Straße"]);
    });

    it("accepts further reports: a parallel step becomes the current one, and lists contain old and new jobs", async () => {
      await release();
      const url = await startWeb();
      const steps = "/api/jobs/running/steps";

      const before = (await call(url, "GET", "/api/jobs/running")).body;
      await call(url, "PUT", `${steps}/unpack`, { progress: 80, jobProgressStart: 20, jobProgressEnd: 60 });
      const during = (await call(url, "GET", "/api/jobs/running")).body;
      await call(url, "PUT", `${steps}/unpack`, { status: "completed", progress: 100, output: { files: 2 } });
      const after = (await call(url, "GET", "/api/jobs/running?include=steps")).body;
      await call(url, "PUT", "/api/jobs/newest", { name: "Newest" });
      const { jobs } = (await call(url, "GET", "/api/jobs?limit=2&fields=name")).body;

      expect([before.progress, during.progress, after.progress]).to.deep.equal([40, 52, 52]);
      expect(during.currentStep).to.include({ stepKey: "unpack", progress: 80 });
      expect(after.currentStep).to.include({ stepKey: "left", progress: 10 });
      expect(after.steps[2]).to.deep.include({ status: "completed", output: { files: 2 }, attempts: 2 });
      expect(jobs[0]).to.include({ jobId: "newest" });
      expect(jobs).to.have.length(2);
    });

    it("can be migrated while processes of the old version serve, which refuse and lose nothing", async () => {
      await release();
      const url = await startWeb();
      const jobs = client.db().collection("jobs");
      await jobs.insertMany(
        Array.from({ length: 20_000 }, (_, i) => ({ jobId: `old-${i}`, updatedMinute: new Date() })),
      );
      await jobs.dropIndex("updatedMinute_-1"); // It stands for an index that only the next version has.
      const answers: number[] = [];
      let isOver = false;
      const reporter = async (_: unknown, i: number) => {
        for (let n = 0; !isOver; n++) {
          const step = await call(url, "PUT", `/api/jobs/running/steps/s-${i}-${n}`, {
            stepName: "S",
            progress: n % 100,
          });
          answers.push(step.status);
        }
      };

      const reporting = Promise.all(Array.from({ length: 8 }, reporter));
      await eventually(() => answers.length > 20, "reports to be answered");
      await release();
      const during = answers.length;
      await eventually(() => answers.length > during + 20, "reports to go on");
      isOver = true;
      await reporting;

      expect(new Set(answers)).to.deep.equal(new Set([201]));
      expect(await jobs.indexExists("updatedMinute_-1")).to.equal(true);
      const { steps } = (await call(url, "GET", "/api/jobs/running?include=steps")).body;
      expect(steps.filter(({ stepKey }: { stepKey: string }) => stepKey.startsWith("s-"))).to.have.length(
        answers.length,
      );
    });

    it("has its waiting runs executed in the order of their session, and its events passed to the main session", async () => {
      await release();
      const url = await startWeb();
      await startWorkerProcess(lifecycle, env, FAST_TIMINGS);
      const run = async (id: string) => (await call(url, "GET", `/api/runs/${id}`)).body;
      const runs = client.db().collection<{ _id: string }>("runs");
      const settled = () => runs.countDocuments({ _id: { $in: [ids.waiting, ids.mapped] }, settled: true });

      await eventually(async () => (await settled()) === 2, "the runs and what follows from their ends", 60_000);
      const { messages } = (await call(url, "GET", "/api/sessions/hook:acme/messages")).body;
      const isReceived = async () => (await client.db().collection("events").countDocuments({ waiting: true })) === 0;
      await eventually(isReceived, "the main session to receive the events", 60_000);

      expect(messages).to.have.length(6);
      expect(messages.at(-2).content).to.equal("Wait for me.");
      const [mapped, waiting] = [await run(ids.mapped), await run(ids.waiting)];
      expect([mapped.status, waiting.status]).to.deep.equal(["completed", "completed"]);
      expect(mapped.reply).to.include("Build 42");
      expect(waiting.deliveries[0]).to.include({ channel: "log" });
    });
  });
