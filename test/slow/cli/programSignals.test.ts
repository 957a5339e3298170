import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { isRunning, startShell } from "../../cli/service.ts";
import { eventually } from "../../support/eventually.ts";
import { useSharedApp } from "../../support/useApp.ts";

/** Starts a child, and prints the signals that each of them gets, until the SIGTERM. */
const PROGRAM = `
import os, signal, subprocess, sys
name = "child" if len(sys.argv) > 1 else "parent"
signals = {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
if name == "parent":
    os.write(1, f"wrapper {os.getppid()}\\n".encode())
    child = subprocess.Popen([sys.executable, __file__, "child"])
os.write(1, f"{name} ready\\n".encode())
while True:
    number = signal.sigwait(signals)
    os.write(1, f"{name} {signal.Signals(number).name}\\n".encode())
    if number == signal.SIGTERM:
        if name == "parent": child.wait()
        os._exit(7)
`;

describe("signalbox run, when it gets a signal", () => {
  const app = useSharedApp();
  let dir: string;
  let jobId: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-test-"));
    writeFileSync(join(dir, "program.py"), PROGRAM);
    jobId = `signalled-${randomUUID()}`;
  });

  const run = (...command: string[]) =>
    ["exec", process.execPath, resolve("src/cli/main.ts"), "run", "--id", jobId, "--", ...command].join(" ");
  const program = () => run("python3", join(dir, "program.py"));
  /** Runs a line of bash, and signals it: see signals.py. */
  const signalled = (line: string, ...steps: string[]) => {
    const words = [resolve("test/slow/cli/signals.py"), line, ...steps];
    const variables = Object.fromEntries(words.map((word, index) => [`W${index}`, word]));
    const quoted = words.map((_, index) => `"$W${index}"`).join(" ");
    return startShell(`python3 ${quoted}`, { SIGNALBOX_URL: app.url, ...variables }, dir);
  };
  const readJob = async () => (await app.call("GET", `/api/jobs/${jobId}?include=steps`)).body;

  const BOTH = (text: string) => `parent ${text}&child ${text}`;
  for (const [what, prefix, first] of [
    ["from a terminal", "", "^C"],
    ["from a terminal whose standard input is a pipe", "echo yes | ", "^C"],
    ["without a terminal", "", "SIGINT"],
  ] as const) {
    it(`lets each process of the program get it once ${what}`, async () => {
      const steps = [BOTH("ready"), first, BOTH("SIGINT"), "SIGUSR1", BOTH("SIGUSR1"), "SIGTERM"];
      const { code, stdout } = await signalled(prefix + program(), ...steps).ended;

      expect((stdout.match(/(parent|child) SIG\w+/g) ?? []).sort()).to.deep.equal([
        ...["child SIGINT", "child SIGTERM", "child SIGUSR1"],
        ...["parent SIGINT", "parent SIGTERM", "parent SIGUSR1"],
      ]);
      expect(code).to.equal(7);
      expect((await readJob()).steps[0].output).to.include({ exitCode: 7 });
    });
  }

  it("passes SIGINT on that was sent to it alone at a terminal", async () => {
    const steps = ["ready", "terminal", BOTH("ready"), "SIGINT", BOTH("SIGINT"), "SIGTERM"];
    const { stdout } = await signalled(program(), ...steps).ended;

    expect(stdout.match(/SIGINT/g)).to.have.length(2);
  });

  it("counts a signal to it and to its group as one, which timeout sends", async () => {
    const { code, stdout } = await signalled(program(), BOTH("ready"), "twice").ended;

    expect(stdout.match(/SIGTERM/g)).to.have.length(2);
    expect(code).to.equal(7);
  });

  it("reports the end of a program that the end of its terminal has ended", async () => {
    await signalled(run("sh", "-c", "'echo begun; sleep 60'"), "begun", "hangup").ended;

    await eventually(async () => (await readJob())?.status === "failed", "the end of the job");
    expect((await readJob()).steps[0].output).to.include({ exitCode: 129 });
  });

  it("leaves a program that runs under nohup alone when its terminal ends", async () => {
    const go = join(dir, "go");
    const line = run("sh", "-c", `'echo begun; while ! [ -e ${go} ]; do sleep 0.05; done; echo over'`);
    const running = signalled(`${line.replace("exec", "exec nohup")} 2>&1 | tee log > /dev/tty`, "begun", "hangup");
    await running.prints(/closed/);
    writeFileSync(go, "");

    await eventually(async () => (await readJob())?.status === "completed", "the end of the job");
    expect(await readJob()).to.include({ message: "over" });
    await running.ended;
  });

  it("sends SIGTERM to each process of a program whose job is cancelled", async () => {
    const running = signalled(run("sh", "-c", "'sleep 97 & echo child $!; while sleep 0.2; do date +%N; done'"));
    await eventually(async () => (await readJob())?.message, "the job");
    await app.call("POST", `/api/jobs/${jobId}/cancel`, { reason: "Not needed" });
    const { code, stdout } = await running.ended;

    expect(code).to.equal(143);
    expect(await readJob()).to.include({ status: "failed", message: "Cancelled: Not needed" });
    const child = Number(/child (\d+)/.exec(stdout)?.[1]);
    await eventually(() => !isRunning(child), "the end of the child");
  });
});
