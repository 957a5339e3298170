import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mongo } from "mongoose";
import { startApp, type TestApp } from "./app.ts";
import { runInProcess } from "./cli.ts";
import { acceptRun, createJob, report, whole } from "./factories.ts";
import { mongoUri } from "./servers/servers.ts";

/** A service with records of each kind for the tests of a file, and an empty database to restore into for each test. */
export class Backups {
  app!: TestApp;
  /** The address of the database to restore into. */
  target!: string;
  readonly folder = mkdtempSync(join(tmpdir(), "signalbox-backup-"));
  /** The path of the usual backup. */
  readonly file = join(this.folder, "all.backup");

  constructor() {
    before(async () => {
      this.app = await startApp();
      await addRecords(this.app);
    });
    after(async () => {
      await this.app.close();
      rmSync(this.folder, { recursive: true });
    });
    beforeEach(async () => {
      this.target = await mongoUri(`restored-${randomUUID()}`);
    });
    afterEach(async () => {
      const client = await mongo.MongoClient.connect(this.target);
      await client.db().dropDatabase();
      await client.close();
    });
  }

  /** Makes a backup while nothing changes the source. */
  async backup(to = this.file) {
    await this.app.settled();
    return runInProcess(["backup", to], { MONGODB_URI: this.app.mongoUri });
  }

  restore(from = this.file, ...options: string[]) {
    return runInProcess(["restore", from, ...options], { MONGODB_URI: this.target });
  }
}

async function addRecords(app: TestApp): Promise<void> {
  const { path } = await createJob(app, { name: "Nightly", metadata: { large: "x".repeat(100_000) } });
  await report(app, path, "fetch", { ...whole(50), status: "completed", progress: 50, output: { rows: 3 } });
  await report(app, path, "write", { ...whole(100), status: "completed", output: { text: "y".repeat(50_000) } });
  for (let i = 0; i < 250; i++) await app.stores.jobs.put(`many-${i}`, { name: `Job ${i}` });
  await acceptRun(app, "hook:one");
  await app.stores.hookCalls.add("call-1", { forEach: "items", call: "{}", maxPromptChars: 100 });
  await app.stores.runs.accept([
    {
      _id: randomUUID(),
      kind: "agent",
      name: null,
      sessionKey: "hook:two",
      singleUse: false,
      request: null,
      mapped: { mapping: "m", call: null, item: { call: "call-1", json: "{}" }, wakeMode: "now" },
    },
  ]);
  await app.stores.sessions.setReplyTarget({ channel: "log", to: "ops" });
}
