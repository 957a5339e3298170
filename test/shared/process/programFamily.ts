import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Program, runProcessGroup } from "../../../src/shared/process/processGroup.ts";
import { eventually } from "../../support/eventually.ts";

/** Returns a command that runs this JavaScript. */
export const node = (source: string): Program["command"] => [process.execPath, "-e", source];

export const STUBBORN = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";

/** Returns functions that run programs in a directory of their own for each test. @param onMade receives the directory */
export function useProgramFamily(onMade: (dir: string) => void) {
  let dir: string;
  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-group-")));
    onMade(dir);
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const run = (command: Program["command"], signal = new AbortController().signal, more: Partial<Program> = {}) =>
    runProcessGroup(
      { command, env: { PATH: process.env.PATH }, cwd: dir, input: "", maxOutputBytes: 1_000, ...more },
      signal,
    );

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
  return { run, family, pids };
}
