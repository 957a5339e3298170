import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { mongo } from "mongoose";
import { interrupts } from "../../../src/cli/terminal/interrupt.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { runInProcess } from "../../support/cli.ts";
import { acceptRun, createJob, report, whole } from "../../support/factories.ts";
import { mongoUri } from "../../support/servers/servers.ts";

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
    for (let i = 0; i < 250; i++) await app.stores.jobs.put(`many-${i}`, { name: `Job ${i}` });
    await acceptRun(app, "hook:one");
    await app.stores.hookCalls.add("call-1", { forEach: "items", call: "{}", maxPromptChars: 100 });
    const [runId] = [randomUUID()];
    await app.stores.runs.accept([
      {
        _id: runId,
        kind: "agent",
        name: null,
        sessionKey: "hook:two",
        singleUse: false,
        request: null,
        mapped: { mapping: "m", call: null, item: { call: "call-1", json: "{}" }, wakeMode: "now" },
      },
    ]);
    await app.stores.sessions.setReplyTarget({ channel: "log", to: "ops" });
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
  const backup = async (to = file) => {
    await app.settled(); // The source must not change after the backup.
    return runInProcess(["backup", to], { MONGODB_URI: app.mongoUri });
  };
  const restore = (from = file, ...options: string[]) =>
    runInProcess(["restore", from, ...options], { MONGODB_URI: target });

  it("writes into the process substitution of a shell", async () => {
    const copy = join(folder, "copy.backup");
    await app.settled();
    const command = '"$0" src/cli/main.ts backup >(cat > "$1"); code=$?; wait $!; exit $code';
    const { stdout } = await promisify(execFile)("bash", ["-c", command, process.execPath, copy], {
      env: { PATH: process.env.PATH, MONGODB_URI: app.mongoUri },
    });

    expect(stdout).to.equal("");
    expect((await restore(copy)).code).to.equal(0);
    rmSync(copy);
  });

  it("leaves nothing behind when it is interrupted", async () => {
    const { source } = interrupts;
    interrupts.source = { on: (name, stop) => name === "SIGINT" && stop(name), off: () => {} };
    try {
      const { code, stdout, stderr } = await backup(join(folder, "interrupted.backup"));

      expect({ code, stdout, stderr }).to.deep.equal({ code: 130, stdout: "", stderr: "" });
      expect(readdirSync(folder).filter((name) => name.includes("interrupted"))).to.deep.equal([]);
    } finally {
      interrupts.source = source;
    }
  });

  it("restores jobs with all their outputs from a backup that was written while they changed", async () => {
    const busy = await Promise.all(Array.from({ length: 5 }, () => createJob(app)));
    let isDone = false;
    const reporting = busy.map(async ({ path }) => {
      for (let i = 0; !isDone; i++) await report(app, path, "work", { output: { i, text: "z".repeat(40_000) } });
    });
    const made = await backup(join(folder, "busy.backup"));
    isDone = true;
    await Promise.all(reporting);
    await restore(join(folder, "busy.backup"));
    const copy = await startApp({ mongo: target });
    const outputs = await Promise.all(
      busy.map(async ({ path }) => (await copy.call("GET", `${path}/steps/work`)).body.output),
    );
    await copy.close();
    await Promise.all(busy.map(({ path }) => app.call("DELETE", path)));

    expect(made.code).to.equal(0);
    for (const output of outputs) expect(output).to.have.all.keys("i", "text");
  });
});
