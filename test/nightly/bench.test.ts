import { expect } from "chai";
import { KINDS, works } from "../../bench/works.ts";
import { runProgram } from "../examples/program.ts";

describe("bench", function () {
  this.timeout(600_000); // It starts many processes, twice.

  it("compares both services in each row, on both kinds of MongoDB", async () => {
    const { code, stdout, stderr } = await runProgram("bench/run.ts", ["--quick"]).ended;

    expect(code, stderr).to.equal(0);
    const tables = stdout.trim().split("\n\n").slice(1);
    expect(tables).to.have.length(Object.keys(KINDS).length);
    for (const [i, title] of Object.values(KINDS).entries()) {
      const lines = tables[i]!.split("\n");
      expect(lines[0]).to.match(new RegExp(`^${title} +signalbox`));
      const rows = lines.slice(2, 2 + Object.keys(works).length);
      expect(rows.map((row) => row.slice(0, 22).trim())).to.deep.equal(Object.values(works).map(({ title }) => title));
      for (const row of rows) expect(row.slice(22).match(/[\d.]+ \/ [\d.]+/g)).to.have.length(6);
      expect(lines.slice(-2).join("\n")).to.match(/^web process: \d+ MiB .*\nworker process: \d+ MiB/);
    }
  });

  it("measures the memory of each process in a soak, and finds no violation", async () => {
    const { code, stdout, stderr } = await runProgram("bench/soak.ts", ["--minutes", "0.5"]).ended;

    expect(code, stdout + stderr).to.equal(0);
    expect(stdout.match(/^\d\.\d\d(\t\d+\.\d){3}$/gm)).to.have.length.at.least(3);
    expect(stdout).to.match(/^worker 2: memory /m);
  });
});
