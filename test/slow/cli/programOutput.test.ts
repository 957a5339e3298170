import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { startShell } from "../../cli/service.ts";
import { useSharedApp } from "../../support/useApp.ts";

describe("signalbox run, in a shell", () => {
  const app = useSharedApp();
  let env: Record<string, string>;
  let jobId: string;
  before(() => {
    env = { SIGNALBOX_URL: app.url };
  });
  beforeEach(() => {
    jobId = `program-${randomUUID()}`;
  });

  const readJob = async () => (await app.call("GET", `/api/jobs/${jobId}?include=steps`)).body;

  /** Runs a line of bash that contains `signalbox` for the command line, and returns its exit code and its output. */
  const shell = (line: string) => {
    const command = `signalbox() { ${process.execPath} ${resolve("src/cli/main.ts")} "$@"; }; ${line}`;
    return startShell(`bash -c "$LINE"`, { ...env, JOB: jobId, LINE: command }, ".").ended;
  };

  for (const [what, line, exitCode] of [
    ["a reader that goes away before the program ends", `-- sh -c 'seq 9; sleep 0.3; seq 9; exit 3' | head -n 1`, 3],
    ["a reader that goes away from a program without an end", "-- yes | head -n 1", 141],
    ["a standard output that is full", "-- sh -c 'seq 9; exit 3' > /dev/full", 3],
    ["a standard error that is full", "-- sh -c 'seq 9 >&2; exit 3' 2> /dev/full", 3],
    ["closed streams", "-- sh -c 'exit 3' >&- 2>&-", 3],
    ["a second reader that goes away", "-- sh -c 'seq 9 >&2; sleep 0.3; seq 9 >&2; exit 3' 2> >(head -n 1)", 3],
  ] as const) {
    it(`reports the end, and exits with the code of the program, with ${what}`, async () => {
      const { stdout } = await shell(`signalbox run --id $JOB ${line}; echo "code \${PIPESTATUS[0]}"`);

      expect(stdout).to.match(new RegExp(`code ${exitCode}$`, "m"));
      const { status, steps } = await readJob();
      expect(status).to.equal("failed");
      expect(steps[0].output).to.include({ exitCode });
    });
  }

  it("lets a program open its standard error by name, and passes binary output on unchanged", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "signalbox-test-")), "random");
    const program = `echo by name > /dev/stderr; head -c 3000000 /dev/urandom > ${file}; cat ${file}`;
    const { stdout, stderr } = await shell(
      `signalbox run -- sh -c '${program}' | cat > ${file}.copy; cmp ${file} ${file}.copy && echo same`,
    );

    expect({ stdout, stderr }).to.deep.equal({ stdout: "same\n", stderr: "by name\n" });
  });

  it("leaves processes in the background alone, which go on printing after its end", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "signalbox-test-")), "ended");
    const { stdout } = await shell(
      `{ signalbox run --id $JOB -- sh -c '(while ! [ -e ${file} ]; do sleep 0.05; done; seq 3; echo late) & echo first'; touch ${file}; } | cat`,
    );

    expect(stdout).to.equal("first\n1\n2\n3\nlate\n");
    expect(await readJob()).to.include({ status: "completed", message: "first" });
  });
});
