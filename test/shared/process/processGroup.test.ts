import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { node, STUBBORN, useProgramFamily } from "./programFamily.ts";

describe("runProcessGroup", () => {
  let dir: string;
  const { run, family, pids } = useProgramFamily((made) => {
    dir = made;
  });

  it("kills the children that a program leaves behind", async () => {
    const detached = node(`
      const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, ["-e", ${JSON.stringify(STUBBORN)}], { stdio: "inherit" });
      process.stdout.write(String(child.pid), () => process.exit(0));`);

    const { code, output } = await run(detached);

    expect(code).to.equal(0);
    await eventually(async () => isOver(await state(Number(output))), "what was left behind to be gone");
  });

  it("stops a program with all its children when it prints too much", async () => {
    const endless = node("process.stdout.write(String(process.pid)); setInterval(() => console.log('more'), 1)");

    const { stopped, output } = await run(endless, undefined, { maxOutputBytes: 100 });

    expect(stopped).to.equal("output");
    expect(output.length).to.be.at.most(100);
    expect(await state(Number.parseInt(output.toString(), 10))).to.equal("");
  });

  it("does not wait for a process that left the group and keeps the output open", async () => {
    const leaver = node(`
      const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit", detached: true });
      process.stdout.write(String(child.pid), () => process.exit(0));`);

    const { output } = await run(leaver);

    process.kill(Number(output), "SIGKILL");
  });

  it("sends no signal after the program has ended, even when a process that left the group prints too much", async () => {
    const pouring = `
      const isGone = () => { try { process.kill(process.argv[1], 0); } catch { return true; } };
      setInterval(() => isGone() && console.log("more"), 1);`;
    const leaver = node(`
      const { spawn } = require("node:child_process");
      const args = ["-e", ${JSON.stringify(pouring)}, process.pid];
      const child = spawn(process.execPath, args, { stdio: "inherit", detached: true });
      process.stdout.write(process.pid + " " + child.pid + " ", () => process.exit(0));`);
    const { kill } = process;
    const signals: [pid: number, signal: unknown][] = [];
    process.kill = (pid, signal) => {
      signals.push([pid, signal]);
      return kill.call(process, pid, signal);
    };

    const { stopped, output } = await run(leaver, undefined, { maxOutputBytes: 100 }).finally(() => {
      process.kill = kill;
    });

    const [leader, left] = output.toString().split(" ").map(Number) as [number, number];
    process.kill(left, "SIGKILL");
    expect(stopped).to.equal("output");
    expect(signals).to.deep.equal([[-leader, "SIGKILL"]]);
  });

  it("kills the group when this process exits", async () => {
    const program = { command: family(STUBBORN), env: {}, cwd: dir, input: "", maxOutputBytes: 1_000 };
    const main = `
      import { existsSync } from "node:fs";
      import { runProcessGroup } from "./src/shared/process/processGroup.ts";
      runProcessGroup(${JSON.stringify(program)}, new AbortController().signal);
      setInterval(() => existsSync(${JSON.stringify(join(dir, "pids"))}) && process.exit(), 10);`;

    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", main]);

    for (const pid of await pids()) await eventually(async () => isOver(await state(pid)), "all to be gone");
  });

  it("keeps the input open until the answer has arrived", async () => {
    // Like a server that gives up at the end of its input, it prints which event came first.
    const server = node(`
      process.stdin.on("data", (asked) => setImmediate(() => process.stdout.write("answer to " + asked + "\\n")));
      process.stdin.on("end", () => process.stdout.write("end", () => process.exit(0)));`);

    const { output } = await run(server, undefined, {
      input: "a question",
      isAnswered: (sofar) => sofar.includes("\n"),
    });

    expect(output.toString()).to.equal("answer to a question\nend");
  });

  it("throws the system's error when the program cannot be started", async () => {
    const thrown = await run(["signalbox-no-such-program"]).catch((error) => error);

    expect(thrown.code).to.equal("ENOENT");
  });
});

/** Returns the state of a process according to ps: empty when there is none, Z for a zombie. */
async function state(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim();
}

/** Returns whether a process has ended. An orphan may stay a zombie in a container whose first process does not reap it. */
const isOver = (seen: string) => seen === "" || seen.startsWith("Z");
