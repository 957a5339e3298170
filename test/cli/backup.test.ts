import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
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
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { mongo } from "mongoose";
import { Backups } from "../support/backups.ts";
import { readAll } from "../support/servers/wholeDatabase.ts";

describe("signalbox backup and restore", () => {
  const at = new Backups();

  it("restores every document as it was, into an empty database", async () => {
    const made = await at.backup();
    const restored = await at.restore();

    expect(made.stdout).to.equal(`${at.file} holds 251 jobs, 2 runs, 1 session and 0 deliveries.\n`);
    expect(restored).to.deep.include({ code: 0, stderr: "" });
    expect(restored.stdout).to.include("Restored 251 jobs, 2 runs, 1 session and 0 deliveries.\n");
    const [before, after] = [await readAll(at.app.mongoUri), await readAll(at.target)];
    expect(Object.keys(after)).to.deep.equal(Object.keys(before));
    expect(after).to.deep.equal(before);
    expect(Object.keys(after)).to.include.members(["jobs", "payloads", "runs", "hookCalls", "sessions"]);
  });

  it("writes a file that only its owner can read", async () => {
    await at.backup();

    expect(statSync(at.file).mode & 0o777).to.equal(0o600);
    expect(readdirSync(at.folder)).to.deep.equal(["all.backup"]);
  });

  it("uses no file that somebody else has prepared", async () => {
    const before = readdirSync(at.folder);
    writeFileSync(`${at.file}.unfinished`, "prepared", { mode: 0o666 });
    await at.backup();

    expect(readFileSync(`${at.file}.unfinished`, "utf8")).to.equal("prepared");
    rmSync(`${at.file}.unfinished`);
    expect(readdirSync(at.folder)).to.deep.equal(before);
  });

  for (const [what, exists] of [
    ["of an older backup", true],
    ["of a file that does not exist yet", false],
  ] as const) {
    it(`writes to the target ${what} when the file is a symbolic link`, async () => {
      const disk = mkdtempSync(join(at.folder, "disk-"));
      const [link, latest] = [join(disk, "link.backup"), join(disk, "latest.backup")];
      if (exists) writeFileSync(latest, "old");
      symlinkSync("latest.backup", link);
      const made = await at.backup(link);
      const restored = await at.restore(latest);

      expect([made.code, restored.code]).to.deep.equal([0, 0]);
      expect(lstatSync(link).isSymbolicLink()).to.equal(true);
      expect(statSync(latest).mode & 0o777).to.equal(0o600);
      expect(readdirSync(disk).sort()).to.deep.equal(["latest.backup", "link.backup"]);
      rmSync(disk, { recursive: true });
    });
  }

  it("writes into a pipe as it is", async () => {
    const [pipe, copy] = [join(at.folder, "pipe"), join(at.folder, "copy.backup")];
    execFileSync("mkfifo", [pipe]);
    const reader = spawn("cat", [pipe], { stdio: ["ignore", openSync(copy, "w"), "ignore"] });
    const [made] = await Promise.all([at.backup(pipe), once(reader, "exit")]);
    const restored = await at.restore(copy);

    expect(made).to.deep.equal({ code: 0, stdout: "", stderr: "" });
    expect(lstatSync(pipe).isFIFO()).to.equal(true);
    expect(restored.code).to.equal(0);
    for (const path of [pipe, copy]) rmSync(path);
  });

  it("removes nothing that it cannot write to", async () => {
    const { code, stderr } = await at.backup(at.folder);

    expect([code, stderr]).to.deep.equal([1, `${at.folder} cannot be used (EISDIR).\n`]);
    expect(readdirSync(at.folder)).to.deep.equal(["all.backup"]);
  });

  it("refuses a database that holds data, and replaces the data with --force", async () => {
    await at.backup();
    await at.restore();
    const client = await mongo.MongoClient.connect(at.target);
    await client.db().collection("jobs").insertOne({ jobId: "other" });
    const refused = await at.restore();
    const kept = await client.db().collection("jobs").countDocuments({ jobId: "other" });
    const forced = await at.restore(at.file, "--force");
    await client.close();

    expect(refused).to.include({ code: 1, stdout: "" });
    expect(refused.stderr).to.equal(
      "The database holds data: with --force it is deleted before the backup is restored.\n",
    );
    expect(kept).to.equal(1);
    expect(forced.code).to.equal(0);
    expect(await readAll(at.target)).to.deep.equal(await readAll(at.app.mongoUri));
  });

  it("refuses a database of another format, also with --force, and changes nothing", async () => {
    await at.backup();
    await at.restore();
    const client = await mongo.MongoClient.connect(at.target);
    await client
      .db()
      .collection("format")
      .updateOne({}, { $set: { format: 2 } });
    const before = await readAll(at.target);
    const refused = await at.restore(at.file, "--force");
    await client.close();

    expect(refused).to.include({ code: 1, stdout: "" });
    expect(refused.stderr).to.include("holds documents in format 2, and this version reads format 1 only.");
    expect(await readAll(at.target)).to.deep.equal(before);
  });

  for (const [what, content, message] of [
    [
      "a truncated file",
      () => readFileSync(at.file).subarray(0, -200),
      "The backup is not complete: its end is missing.",
    ],
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
      await at.backup();
      const path = join(at.folder, "bad.backup");
      writeFileSync(path, content());
      const { code, stderr } = await at.restore(path, "--force");

      expect(code).to.equal(1);
      expect(stderr)
        .to.include(message)
        .and.to.match(/^[^\n]+\n$/);
      expect(await readAll(at.target)).to.deep.equal({});
    });
  }

  it("refuses a file that does not exist, and one that cannot be written", async () => {
    const read = await at.restore(join(at.folder, "missing"));
    const written = await at.backup(join(at.folder, "missing", "file"));

    expect([read.code, written.code]).to.deep.equal([1, 1]);
    expect(read.stderr).to.match(/missing cannot be used \(ENOENT\)\.\n$/);
    expect(written.stderr).to.match(/file cannot be used \(ENOENT\)\.\n$/);
  });
});
