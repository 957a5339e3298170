import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mongo } from "mongoose";
import { startApp, type TestApp } from "../../support/app.ts";
import { runInProcess } from "../../support/cli.ts";
import { acceptRun, createJob, report, whole } from "../../support/factories.ts";
import { mongoUri } from "../../support/servers/servers.ts";
import { readAll } from "../../support/servers/wholeDatabase.ts";

describe("signalbox backup and restore", () => {
  let app: TestApp;
  let target: string;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-backup-"));
  const file = join(folder, "all.backup");
  before(async () => {
    app = await startApp();
    const { path } = await createJob(app, { name: "Nightly", metadata: { large: "x".repeat(100_000) } });
    await report(app, path, "fetch", { ...whole(50), status: "completed", progress: 50, output: { rows: 3 } });
    await report(app, path, "write", { ...whole(100), status: "completed", output: { text: "y".repeat(50_000) } });
    await acceptRun(app, "hook:one");
    await app.settled();
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    target = await mongoUri(`restored-${randomUUID()}`);
  });
  afterEach(async () => {
    const client = await mongo.MongoClient.connect(target);
    await client.db().dropDatabase();
    await client.close();
  });
  const backup = (to = file) => runInProcess(["backup", to], { MONGODB_URI: app.mongoUri });
  const restore = (from = file, ...options: string[]) =>
    runInProcess(["restore", from, ...options], { MONGODB_URI: target });

  it("writes to standard output for -", async () => {
    const piped = join(folder, "piped.backup");
    const script = `exec "${process.execPath}" src/cli/main.ts backup - > "${piped}"`;
    const shell = spawn("sh", ["-c", script], { env: { PATH: process.env.PATH, MONGODB_URI: app.mongoUri } });
    const [code] = await once(shell, "close");
    await restore(piped);

    expect(code).to.equal(0);
    expect(await readAll(target)).to.deep.equal(await readAll(app.mongoUri));
  });

  it("starts the embedded MongoDB where no service runs, and stops it again", async () => {
    await backup();
    const env = { SIGNALBOX_DATA_DIR: join(folder, "data") };
    const restored = await runInProcess(["restore", file], env);
    const again = await runInProcess(["backup", join(folder, "again.backup")], env);
    await restore(join(folder, "again.backup"));

    expect([restored.code, again.code]).to.deep.equal([0, 0]);
    expect(existsSync(join(folder, "data", "instance.json"))).to.equal(false);
    expect(await readAll(target)).to.deep.equal(await readAll(app.mongoUri));
  });
});
