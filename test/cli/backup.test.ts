import { execFileSync, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { mongo } from "mongoose";
import { startApp, type TestApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { acceptRun, createJob, report, whole } from "../support/factories.ts";
import { mongoUri } from "../support/servers/servers.ts";
import { readAll } from "../support/servers/wholeDatabase.ts";

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

  it("restores every document as it was, into an empty database", async () => {
    const made = await backup();
    const restored = await restore();

    expect(made.stdout).to.equal(`${file} holds 251 jobs, 2 runs, 1 session and 0 deliveries.\n`);
    expect(restored).to.deep.include({ code: 0, stderr: "" });
    expect(restored.stdout).to.include("Restored 251 jobs, 2 runs, 1 session and 0 deliveries.\n");
    const [before, after] = [await readAll(app.mongoUri), await readAll(target)];
    expect(Object.keys(after)).to.deep.equal(Object.keys(before));
    expect(after).to.deep.equal(before);
    expect(Object.keys(after)).to.include.members(["jobs", "payloads", "runs", "hookCalls", "sessions"]);
  });

  it("writes a file that only its owner can read", async () => {
    await backup();

    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readdirSync(folder)).to.deep.equal(["all.backup"]);
  });

  it("uses no file that somebody else has prepared", async () => {
    const before = readdirSync(folder);
    writeFileSync(`${file}.unfinished`, "prepared", { mode: 0o666 });
    await backup();

    expect(readFileSync(`${file}.unfinished`, "utf8")).to.equal("prepared");
    rmSync(`${file}.unfinished`);
    expect(readdirSync(folder)).to.deep.equal(before);
  });

  for (const [what, exists] of [
    ["of an older backup", true],
    ["of a file that does not exist yet", false],
  ] as const) {
    it(`writes to the target ${what} when the file is a symbolic link`, async () => {
      const disk = mkdtempSync(join(folder, "disk-"));
      const [link, latest] = [join(disk, "link.backup"), join(disk, "latest.backup")];
      if (exists) writeFileSync(latest, "old");
      symlinkSync("latest.backup", link);
      const made = await backup(link);
      const restored = await restore(latest);

      expect([made.code, restored.code]).to.deep.equal([0, 0]);
      expect(lstatSync(link).isSymbolicLink()).to.equal(true);
      expect(statSync(latest).mode & 0o777).to.equal(0o600);
      expect(readdirSync(disk).sort()).to.deep.equal(["latest.backup", "link.backup"]);
      rmSync(disk, { recursive: true });
    });
  }

  it("writes into a pipe as it is", async () => {
    const [pipe, copy] = [join(folder, "pipe"), join(folder, "copy.backup")];
    execFileSync("mkfifo", [pipe]);
    const reader = spawn("cat", [pipe], { stdio: ["ignore", openSync(copy, "w"), "ignore"] });
    const [made] = await Promise.all([backup(pipe), once(reader, "exit")]);
    const restored = await restore(copy);

    expect(made).to.deep.equal({ code: 0, stdout: "", stderr: "" });
    expect(lstatSync(pipe).isFIFO()).to.equal(true);
    expect(restored.code).to.equal(0);
    for (const path of [pipe, copy]) rmSync(path);
  });

  it("removes nothing that it cannot write to", async () => {
    const { code, stderr } = await backup(folder);

    expect([code, stderr]).to.deep.equal([1, `${folder} cannot be used (EISDIR).\n`]);
    expect(readdirSync(folder)).to.deep.equal(["all.backup"]);
  });

  it("refuses a database that holds data, and replaces the data with --force", async () => {
    await backup();
    await restore();
    const client = await mongo.MongoClient.connect(target);
    await client.db().collection("jobs").insertOne({ jobId: "other" });
    const refused = await restore();
    const kept = await client.db().collection("jobs").countDocuments({ jobId: "other" });
    const forced = await restore(file, "--force");
    await client.close();

    expect(refused).to.include({ code: 1, stdout: "" });
    expect(refused.stderr).to.equal(
      "The database holds data: with --force it is deleted before the backup is restored.\n",
    );
    expect(kept).to.equal(1);
    expect(forced.code).to.equal(0);
    expect(await readAll(target)).to.deep.equal(await readAll(app.mongoUri));
  });

  it("refuses a database of another format, also with --force, and changes nothing", async () => {
    await backup();
    await restore();
    const client = await mongo.MongoClient.connect(target);
    await client
      .db()
      .collection("format")
      .updateOne({}, { $set: { format: 2 } });
    const before = await readAll(target);
    const refused = await restore(file, "--force");
    await client.close();

    expect(refused).to.include({ code: 1, stdout: "" });
    expect(refused.stderr).to.include("holds documents in format 2, and this version reads format 1 only.");
    expect(await readAll(target)).to.deep.equal(before);
  });

  for (const [what, content, message] of [
    ["a truncated file", () => readFileSync(file).subarray(0, -200), "The backup is not complete: its end is missing."],
    [
      "a file without an end",
      () => gzipSync(mongo.BSON.serialize({ signalboxBackup: 1 })),
      "The backup is not complete",
    ],
    ["another compressed file", () => gzipSync("no backup at all"), "is not a backup of Signalbox."],
    ["a compressed document of another kind", () => gzipSync(mongo.BSON.serialize({ a: 1 })), "is not a backup"],
    ["a file that is not compressed", () => randomBytes(1_000), "is not a backup of Signalbox."],
    [
      "a backup of another format",
      () => gzipSync(mongo.BSON.serialize({ signalboxBackup: 2, version: "9.0.0" })),
      "in format 2, and this version reads format 1 only: restore it with version 9.0.0, which wrote it.",
    ],
    ["an empty file", () => Buffer.alloc(0), "The backup is not complete"],
  ] as const) {
    it(`refuses ${what} and changes nothing`, async () => {
      await backup();
      const path = join(folder, "bad.backup");
      writeFileSync(path, content());
      const { code, stderr } = await restore(path, "--force");

      expect(code).to.equal(1);
      expect(stderr)
        .to.include(message)
        .and.to.match(/^[^\n]+\n$/);
      expect(await readAll(target)).to.deep.equal({});
    });
  }

  it("refuses a file that does not exist, and one that cannot be written", async () => {
    const read = await restore(join(folder, "missing"));
    const written = await backup(join(folder, "missing", "file"));

    expect([read.code, written.code]).to.deep.equal([1, 1]);
    expect(read.stderr).to.match(/missing cannot be used \(ENOENT\)\.\n$/);
    expect(written.stderr).to.match(/file cannot be used \(ENOENT\)\.\n$/);
  });
});
