import { expect } from "chai";
import { runProgram } from "./program.ts";

const TURN_SECONDS = "0.2";
const WORKS = ["report (PUT step)", "read (GET job)", "agent hook (POST)", "wake hook (POST)"];

describe("bench", function () {
  this.timeout(150_000); // starts servers and three programs on a machine that may be busy

  it("prints a row for each work and number of connections, with the figures of both services", async () => {
    const { code, stdout, stderr } = await runProgram("bench/run.ts", [TURN_SECONDS]).ended;

    expect(code, stderr).to.equal(0);
    const rows = WORKS.flatMap((work) => stdout.split("\n").filter((line) => line.startsWith(work)));
    const cells = rows.map((row) => row.split(/ {2,}/));
    expect(cells.map(([work, connections]) => [work, connections])).to.deep.equal(
      WORKS.flatMap((work) => [
        [work, "10"],
        [work, "100"],
      ]),
    );
    for (const [, , ...figures] of cells) {
      expect(figures).to.have.length(7);
      for (const figure of figures) expect(Number(figure), figure).to.be.finite.and.greaterThan(0);
    }
    expect(stdout).to.match(/start of its run.*\n.*p50 -?\d+ ms, p99 \d+ ms/);
    expect(stdout).to.match(
      /1000 open streams.*\n.*\d+ KiB .* after \d+ ms.*\n.*\d+\/s with none open, \d+\/s with all/,
    );
    expect(stdout).to.match(/p99: \d+\.\d ms, \d+\.\d ms while they hang\n.*p50: -?\d+\.\d ms, -?\d+\.\d ms while/);
    expect(stdout).to.include("only within one run").and.include("Measured elsewhere");
  });

  it("refuses a turn that is no time", async () => {
    const { code, stderr } = await runProgram("bench/run.ts", ["soon"]).ended;

    expect(code).to.equal(1);
    expect(stderr).to.include("not soon");
  });
});
