import { execFile } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { interrupts } from "../../../src/cli/terminal/interrupt.ts";
import { startApp } from "../../support/app.ts";
import { Backups } from "../../support/backups.ts";
import { createJob, report } from "../../support/factories.ts";

describe("signalbox backup and restore", () => {
  const at = new Backups();

  it("writes into the process substitution of a shell", async () => {
    const copy = join(at.folder, "copy.backup");
    await at.app.settled();
    const command = '"$0" src/cli/main.ts backup >(cat > "$1"); code=$?; wait $!; exit $code';
    const { stdout } = await promisify(execFile)("bash", ["-c", command, process.execPath, copy], {
      env: { PATH: process.env.PATH, MONGODB_URI: at.app.mongoUri },
    });

    expect(stdout).to.equal("");
    expect((await at.restore(copy)).code).to.equal(0);
    rmSync(copy);
  });

  it("leaves nothing behind when it is interrupted", async () => {
    const { source } = interrupts;
    interrupts.source = { on: (name, stop) => name === "SIGINT" && stop(name), off: () => {} };
    try {
      const { code, stdout, stderr } = await at.backup(join(at.folder, "interrupted.backup"));

      expect({ code, stdout, stderr }).to.deep.equal({ code: 130, stdout: "", stderr: "" });
      expect(readdirSync(at.folder).filter((name) => name.includes("interrupted"))).to.deep.equal([]);
    } finally {
      interrupts.source = source;
    }
  });

  it("restores jobs with all their outputs from a backup that was written while they changed", async () => {
    const busy = await Promise.all(Array.from({ length: 5 }, () => createJob(at.app)));
    const reportOnce = (path: string, i: number) =>
      report(at.app, path, "work", { output: { i, text: "z".repeat(40_000) } });
    await Promise.all(busy.map(({ path }) => reportOnce(path, 0))); // The backup must find each step.
    let isDone = false;
    const reporting = busy.map(async ({ path }) => {
      for (let i = 1; !isDone; i++) await reportOnce(path, i);
    });
    const made = await at.backup(join(at.folder, "busy.backup"));
    isDone = true;
    await Promise.all(reporting);
    await at.restore(join(at.folder, "busy.backup"));
    const copy = await startApp({ mongo: at.target });
    const outputs = await Promise.all(
      busy.map(async ({ path }) => (await copy.call("GET", `${path}/steps/work`)).body.output),
    );
    await copy.close();
    await Promise.all(busy.map(({ path }) => at.app.call("DELETE", path)));

    expect(made.code).to.equal(0);
    for (const output of outputs) expect(output).to.have.all.keys("i", "text");
  });
});
