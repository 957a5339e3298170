import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { createRunner } from "../../../src/agents/runner.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { eventually } from "../../support/eventually.ts";
import { turn, whatWasThrown } from "./turn.ts";

/** A command that runs this JavaScript. */
const node = (source: string) => [process.execPath, "-e", source];

describe("the command runner stops a program with all its children", () => {
  let dir: string;
  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-command-")));
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const ask = (command: string[], signal = new AbortController().signal) =>
    createRunner("command", { command: { command, cwd: dir } }, { PATH: process.env.PATH }).run(turn("Go."), signal);

  const STUBBORN = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
  /** Starts two children that ignore SIGTERM, and writes all three ids down once they are up. */
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
  const timeUp = () => new DOMException("late", "TimeoutError");

  const leaders: [string, string][] = [
    ["that ends by itself on SIGTERM", ""],
    ["that ignores SIGTERM too", STUBBORN],
    ["that ends well on SIGTERM", "process.on('SIGTERM', () => { writeFileSync('told', ''); process.exit(0); });"],
  ];
  for (const [title, leader] of leaders) {
    it(`${title}, when time is up`, async () => {
      const time = new AbortController();
      const running = whatWasThrown(ask(family(leader), time.signal));
      const [main, ...children] = (await pids()) as [number, ...number[]];

      time.abort(timeUp());
      const thrown = await running;

      expect(thrown.code).to.equal("timeout");
      expect(existsSync(join(dir, "told")), "it was told before it was killed").to.equal(leader.includes("told"));
      expect(await state(main), "the leader is gone, not a zombie").to.equal("");
      for (const child of children) await eventually(async () => isOver(await state(child)), "a child to be gone");
    });
  }

  it("whose leader ends and leaves them behind", async () => {
    const detached = node(`
      const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, ["-e", ${JSON.stringify(STUBBORN)}], { stdio: "inherit" });
      process.stdout.write(String(child.pid), () => process.exit(0));`);

    const { text } = await ask(detached);

    await eventually(async () => isOver(await state(Number(text))), "what was left behind to be gone");
  });

  it("and throws the reason when it is stopped for another one", async () => {
    const stop = new AbortController();
    const reason = new AppError("cancelled");
    const running = whatWasThrown(ask(family(""), stop.signal));
    await pids();

    stop.abort(reason);

    expect(await running).to.equal(reason);
  });

  it("does not wait for one that left the group and holds the output open", async () => {
    const leaver = node(`
      const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit", detached: true });
      process.stdout.write(String(child.pid), () => process.exit(0));`);

    const { text } = await ask(leaver);

    process.kill(Number(text), "SIGKILL");
  });

  it("when this process exits meanwhile", async () => {
    const command = { command: family(STUBBORN), cwd: dir };
    const main = `
      import { existsSync } from "node:fs";
      import { createRunner } from "./src/agents/runner.ts";
      const runner = createRunner("command", { command: ${JSON.stringify(command)} }, {});
      runner.run(${JSON.stringify(turn("Go."))}, new AbortController().signal);
      setInterval(() => existsSync(${JSON.stringify(join(dir, "pids"))}) && process.exit(), 10);`;

    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", main]);

    for (const pid of await pids()) await eventually(async () => isOver(await state(pid)), "all to be gone");
  });

  it("starts nothing when the signal has fired before", async () => {
    const thrown = await whatWasThrown(ask(["touch", "started"], AbortSignal.abort(timeUp())));

    expect(thrown.code).to.equal("timeout");
    expect(existsSync(join(dir, "started"))).to.equal(false);
  });
});

/** What ps says of a process: empty when there is none, Z when it is dead and nobody has asked how it ended. */
async function state(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim();
}

/** An orphan's end is for the system's first process to ask for, which in a container may not do so. */
const isOver = (seen: string) => seen === "" || seen.startsWith("Z");
