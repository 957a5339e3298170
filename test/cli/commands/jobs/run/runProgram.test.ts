import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { startApp } from "../../../../support/app.ts";
import { runInProcess } from "../../../../support/cli.ts";
import { eventually } from "../../../../support/eventually.ts";
import { freePort } from "../../../../support/servers/servers.ts";
import { useSharedApp } from "../../../../support/useApp.ts";
import { runCli } from "../../../service.ts";

describe("signalbox run", () => {
  const app = useSharedApp();
  let env: Record<string, string>;
  let jobId: string;
  before(() => {
    env = { SIGNALBOX_URL: app.url };
  });
  beforeEach(() => {
    jobId = `program-${randomUUID()}`;
  });

  /** Returns the words that run a JavaScript program as a job. */
  const program = (script: string, ...options: string[]) => [
    ...["run", "--job", jobId, ...options],
    ...["--", process.execPath, "-e", script],
  ];
  const run = (script: string, ...options: string[]) => runInProcess(program(script, ...options), env);
  const readJob = async (id = jobId) => (await app.call("GET", `/api/jobs/${id}?include=steps`)).body;

  it("completes the job of a program that exits with 0, and passes on its output", async () => {
    const { code, stdout, stderr } = await run(
      "console.log('one'); console.error('warning'); console.log('two')",
      ...["--name", "Nightly", "--metadata", "team=sales"],
    );

    expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: "one\ntwo\n", stderr: "warning\n" });
    const job = await readJob();
    expect(job).to.include({ name: "Nightly", status: "completed", progress: 100 });
    expect(job.metadata).to.deep.equal({ team: "sales" });
    expect(job.output).to.have.all.keys("exitCode", "durationMs", "tail");
    expect(job.output).to.include({ exitCode: 0 });
    expect(job.output.tail.split("\n")).to.have.members(["one", "two", "warning"]);
    expect(job.steps).to.have.length(1);
    expect(job.steps[0]).to.include({ stepKey: "run", stepName: "Nightly", status: "completed" });
  });

  it("keeps the output as the log of the step, with its colours, unless --no-log is given", async () => {
    const script = "console.log('\\x1b[31mone\\x1b[0m'); console.error('two'); process.stdout.write('no line end')";
    await run(script);
    const first = jobId;
    jobId = `program-${randomUUID()}`;
    await run(script, "--no-log");

    const texts = async (id: string) => {
      const { body } = await app.call("GET", `/api/jobs/${id}/steps/run/log`);
      return body.lines.map(({ text }: { text: string }) => text);
    };
    expect(await texts(first)).to.have.members(["\x1b[31mone\x1b[0m", "two", "no line end"]);
    expect(await texts(jobId)).to.deep.equal([]);
  });

  it("gives the program the trace of its job, which links to the trace of the caller", async () => {
    const traced = await startApp({
      config: JSON.stringify({ otel: { traces: true, endpoint: "http://127.0.0.1:9" } }),
    });
    const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    const words = program("console.log(process.env.TRACEPARENT)");
    try {
      const { stdout } = await runInProcess(words, { SIGNALBOX_URL: traced.url, TRACEPARENT: caller });

      const { body: job } = await traced.call("GET", `/api/jobs/${jobId}`);
      expect(stdout).to.equal(`${job.traceparent}\n`);
      expect(job.traceparent).to.match(/-00$/);
      expect(await traced.database.collections.jobs.findOne({ jobId })).to.include({ traceparent: caller });
    } finally {
      await traced.close();
    }
  });

  it("fails the job of a program that exits with another code, which becomes its own", async () => {
    const { code } = await run("console.log('disk full'); process.exit(7)");

    expect(code).to.equal(7);
    const job = await readJob();
    expect(job).to.include({ status: "failed", message: "disk full" });
    expect(job.steps[0].output).to.include({ exitCode: 7, tail: "disk full" });
  });

  it("names the job after the program alone, whose arguments may contain secrets, under a random id", async () => {
    const { code } = await runInProcess(["run", "--", process.execPath, "-e", "0", "--", "--password=hunter2"], env);

    const { jobs } = (await app.call("GET", "/api/jobs?fields=name,status&name=node")).body;
    expect(code).to.equal(0);
    expect(jobs[0]).to.include({ name: "node", status: "completed" });
    expect(jobs[0].jobId).to.match(/^[0-9a-f-]{36}$/);
  });

  it("reports the progress and the last line while the program runs, without colours", async () => {
    const running = runCli(
      program(
        "process.stdout.write('\\x1b[32m30/120 rows\\x1b[0m\\r'); process.stdin.on('data', () => {}); setInterval(() => {}, 1000)",
        ...["--progress-from", "(\\d+)/(\\d+) rows"],
      ),
      env,
    );
    try {
      await eventually(async () => (await readJob())?.progress === 25, "the progress");

      expect(await readJob()).to.include({ status: "running", progress: 25, message: "30/120 rows" });
    } finally {
      running.kill("SIGTERM");
    }
    expect((await running.ended).code).to.equal(143);
    expect(await readJob()).to.include({ status: "failed", progress: 25 });
  });

  it("passes a signal on, and reports how the program ends by itself", async () => {
    const script = `
      process.on("SIGTERM", () => { console.log("cleaned up"); process.exit(0); });
      console.log("ready"); setInterval(() => {}, 1000)`;
    const running = runCli(program(script), env);
    await running.prints(/ready/);
    running.kill("SIGTERM");

    expect((await running.ended).code).to.equal(0);
    expect(await readJob()).to.include({ status: "completed", message: "cleaned up" });
  });

  it("stays below 100 until the program ends, whatever it prints", async () => {
    const { code } = await run("console.log('100%'); process.exit(1)", "--progress-from", "(\\d+)%");

    expect(code).to.equal(1);
    expect(await readJob()).to.include({ status: "failed", progress: 99 });
  });

  it("leaves an ended job of the same id as it is, and reports under an id with a suffix", async () => {
    await run("console.log('first')");
    await run("console.log('second')");

    const { jobs } = (await app.call("GET", `/api/jobs?jobId=${jobId}&fields=message`)).body;
    expect(jobs.map(({ message }: { message: string }) => message)).to.deep.equal(["second", "first"]);
    expect(jobs[0].jobId).to.match(new RegExp(`^${jobId}-\\d{8}T\\d{9}Z$`));
  });

  it("runs the program while the service is unavailable, and says that the job was not reported", async () => {
    const away = `http://127.0.0.1:${await freePort()}`;
    const { code, stdout, stderr } = await runInProcess(
      ["run", "--wait", "3600", "--url", away, "--", process.execPath, "-e", "console.log('done'); process.exit(5)"],
      {},
    );

    expect({ code, stdout }).to.deep.equal({ code: 5, stdout: "done\n" });
    expect(stderr).to.match(/^signalbox: http:\/\/127\.0\.0\.1:\d+ cannot be reached; the program goes on$/m);
    expect(stderr).to.match(
      /^signalbox: the end of the job was not reported: http:\/\/127\.0\.0\.1:\d+ could not be reached for \d+\.\d s\.$/m,
    );
  });

  const cannotStart: readonly (readonly [what: string, command: readonly string[], code: number, fault: RegExp])[] = [
    ["does not exist", ["no-such-program"], 127, /^no-such-program was not found: check its name and PATH\.$/],
    ["is a line in quotes", ["echo hi"], 127, /^echo hi was not found: check the quotes around its words\.$/],
    ["has an empty name", [""], 127, /^its name is empty: check the variable or the quotes after --\.$/],
    ["is blank", [" "], 127, /^ {2}was not found/],
    ["is a directory", ["/"], 126, /^\/ cannot be executed \(EACCES\): make it executable/],
    ["is below a file", ["/etc/passwd/x"], 126, /ENOTDIR/],
    ["has a name that is too long", [`/${"x".repeat(5_000)}`], 126, /ENAMETOOLONG/],
    [
      "has too many arguments",
      ["true", "x".repeat(3_000_000)],
      126,
      /^its arguments and environment are too long \(E2BIG\)/,
    ],
  ];
  for (const [what, command, exitCode, fault] of cannotStart) {
    it(`fails the job of a program that ${what}, with ${exitCode} and one sentence`, async () => {
      const { code, stderr } = await runInProcess(["run", "--job", jobId, "--", ...command], env);

      const [, reason = ""] = /^signalbox: (The program could not be started: .*\.)\n$/.exec(stderr) ?? [];
      expect(reason.replace("The program could not be started: ", ""), stderr).to.match(fault);
      expect(code).to.equal(exitCode);
      expect(await readJob()).to.include({ status: "failed", message: reason });
    });
  }

  it("passes every word on to the program, also blank ones and directories", async () => {
    const { code, stdout } = await runInProcess(
      [...program("console.log(JSON.stringify(process.argv.slice(1)))"), "", ".", "..", "--url", "x"],
      env,
    );

    expect([code, JSON.parse(stdout)]).to.deep.equal([0, ["", ".", "..", "--url", "x"]]);
  });

  it("keeps the last 20 lines", async () => {
    await run("for (let i = 1; i <= 100; i++) console.log('line ' + i)");

    const { tail } = (await readJob()).output;
    expect(tail.split("\n")).to.have.length(20);
    expect(tail).to.match(/^line 81\n(?:.*\n)*line 100$/);
  });

  it("does not wait for a process that keeps the output open", async () => {
    const { code } = await run(
      "require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 5000)'], { stdio: 'inherit', detached: true }).unref()",
    );

    expect(code).to.equal(0);
    expect(await readJob()).to.include({ status: "completed" });
  });

  it("keeps the job of a silent program from turning stale", async () => {
    const running = runCli(
      program("process.stdin.on('data', () => {}); setInterval(() => {}, 1000)", "--stale-after", "1"),
      env,
    );
    try {
      await eventually(async () => /^\(running for [1-9]\d*s\)$/.test((await readJob())?.message), "a sign of life");

      expect(await readJob()).to.include({ status: "running", stale: false, staleAfterSeconds: 1 });
    } finally {
      running.kill("SIGTERM");
    }
    await running.ended;
  });

  for (const [pattern, fault] of [
    ["(", /Unterminated group|Invalid regular expression/],
    ["[0-9]+%", /must have a group/],
  ] as const) {
    it(`refuses the pattern ${pattern} before it runs the program`, async () => {
      const { code, stdout, stderr } = await run("console.log('ran')", "--progress-from", pattern);

      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: "" });
      expect(stderr).to.match(fault);
    });
  }
});
