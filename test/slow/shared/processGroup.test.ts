import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { STUBBORN, useProgramFamily } from "../../shared/process/programFamily.ts";
import { eventually } from "../../support/eventually.ts";

describe("runProcessGroup", () => {
  let dir: string;
  const { run, family, pids } = useProgramFamily((made) => {
    dir = made;
  });

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
