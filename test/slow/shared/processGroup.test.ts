import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { type Program, runProcessGroup } from "../../../src/shared/process/processGroup.ts";
import { eventually } from "../../support/eventually.ts";

/** Returns a command that runs this JavaScript. */
const node = (source: string): Program["command"] => [process.execPath, "-e", source];

describe("runProcessGroup", () => {
  let dir: string;
  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-group-")));
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const run = (command: Program["command"], signal = new AbortController().signal, more: Partial<Program> = {}) =>
    runProcessGroup(
      { command, env: { PATH: process.env.PATH }, cwd: dir, input: "", maxOutputBytes: 1_000, ...more },
      signal,
    );

  const STUBBORN = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
  /** Starts two children that ignore SIGTERM, and writes all three ids to a file once they run. */
  const family = (leader: string) =>
    node(`
      const { spawn } = require("node:child_process");
      const { renameSync, writeFileSync } = require("node:fs");
      ${leader}
      const child = () => spawn(process.execPath, ["-e", ${JSON.stringify(`${STUBBORN} console.log("ready")`)}], {
        stdio: ["inherit", "pipe", "inherit"],
      });
      const children = [child(), child()];
      let ready = 0;
      for (const { stdout } of children) stdout.once("data", () => {
        if (++ready < 2) return;
        writeFileSync("pids.part", JSON.stringify([process.pid, ...children.map(({ pid }) => pid)]));
        renameSync("pids.part", "pids");
      });`);
  const pids = () =>
    eventually(() => existsSync(join(dir, "pids")), "the processes to be up").then(
      () => JSON.parse(readFileSync(join(dir, "pids"), "utf8")) as number[],
    );

  const leaders: [string, string][] = [
    ["a program that does not handle SIGTERM", ""],
    ["a program that ignores SIGTERM too", STUBBORN],
    [
      "a program that exits on SIGTERM",
      "process.on('SIGTERM', () => { writeFileSync('told', ''); process.exit(0); });",
    ],
  ];
  for (const [title, leader] of leaders) {
    it(`stops ${title} with all its children when the signal aborts`, async () => {
      const stop = new AbortController();
      const running = run(family(leader), stop.signal);
      const [main, ...children] = (await pids()) as [number, ...number[]];

      stop.abort();
      const ended = await running;

      expect(ended.stopped).to.equal("signal");
      expect(existsSync(join(dir, "told")), "it was told before it was killed").to.equal(leader.includes("told"));
      expect(await state(main), "the leader is gone, not a zombie").to.equal("");
      for (const child of children) await eventually(async () => isOver(await state(child)), "a child to be gone");
    });
  }
});

/** Returns the state of a process according to ps: empty when there is none, Z for a zombie. */
async function state(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim();
}

/** Returns whether a process has ended. An orphan may stay a zombie in a container whose first process does not reap it. */
const isOver = (seen: string) => seen === "" || seen.startsWith("Z");
