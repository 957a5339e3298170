import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { DataDirectoryLock } from "../../../src/cli/start/dataDirectoryLock.ts";
import { processIdentity } from "../../../src/cli/start/processInfo.ts";
import { StartError } from "../../../src/shared/process/lifecycle.ts";

describe("DataDirectoryLock", () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "signalbox-lock-"));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const file = () => join(dataDir, "instance.json");

  it("has one owner when two starts wait for what a killed instance left", async () => {
    const leftover = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    const pid = leftover.pid as number;
    const exited = once(leftover, "exit");
    const children = [{ pid, identity: processIdentity(pid) }];
    writeFileSync(file(), JSON.stringify({ pid: 2 ** 22 + 1, identity: "gone", children }));

    const starts = [DataDirectoryLock.acquire(dataDir), DataDirectoryLock.acquire(dataDir)];
    leftover.kill("SIGKILL");
    await exited;
    const results = await Promise.allSettled(starts);

    expect(results.map(({ status }) => status)).to.have.members(["fulfilled", "rejected"]);
    const refused = results.find((result) => result.status === "rejected");
    expect(refused?.reason).to.be.instanceOf(StartError);
    expect(refused?.reason.message).to.include("is in use by another instance");
  });

  it("removes a file that a crash of the system truncated, and leaves no other file behind", async () => {
    writeFileSync(file(), '{"pid":');

    const lock = await DataDirectoryLock.acquire(dataDir);

    expect(readdirSync(dataDir)).to.deep.equal(["instance.json"]);
    lock.release();
    expect(readdirSync(dataDir)).to.deep.equal([]);
  });
});
