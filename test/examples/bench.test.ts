import { expect } from "chai";
import { runProgram } from "./program.ts";

const WORKS = ["report (PUT step)", "read (GET job)", "agent hook (POST)", "wake hook (POST)"];
const NUMBER = String.raw`-?\d+(\.\d+)?`;

describe("bench", function () {
  this.timeout(300_000); // starts servers and many programs on a machine that may be busy

  it("prints in its short form a row for each work and number of connections, and all that belongs to it", async () => {
    const { code, stdout, stderr } = await runProgram("bench/run.ts", ["--quick"]).ended;

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
      expect(figures.length).to.be.within(9, 10);
      for (const figure of figures) expect(figure).to.match(/^([<>]=)?\d+(\.\d+)?$/);
    }
    for (const words of [
      "10 connections: N/s beside N/s, ratio N",
      "100 agent runs that wait, .*: N/s\n  an empty BullMQ processor: N/s; ratio N, goal >=0.125",
      "web process: N MiB, then N MiB; ready after N ms\n  worker process: N MiB, then N MiB; ready after N ms",
      "start of its run.*\n.*p50 N ms, p99 N ms",
      "1000 open streams.*\n.*N KiB .* after N ms.*\n.*N/s with none open, N/s with all",
      "p99: N ms, N ms while they hang\n.*p50: N ms, N ms while",
      "GET 50 of its steps +N +N +N",
    ]) {
      expect(stdout).to.match(new RegExp(words.replaceAll("N", NUMBER)));
    }
    expect(stdout).to.include("only within one run").and.include("Measured elsewhere");
  });

  it("compares every call with many jobs stored with the same on an empty database", async () => {
    const { code, stdout, stderr } = await runProgram("bench/run.ts", ["--large", "3000"]).ended;

    expect(code, stderr).to.equal(0);
    expect(stdout).to.include("Every call with 3000 jobs and 15000 steps stored");
    const calls = stdout.split("\n").flatMap((line) => {
      const [title, empty, full, ratio] = line.split(/ {2,}/);
      return ratio === undefined || title === "call" ? [] : [[title, Number(empty), Number(full), Number(ratio)]];
    });
    expect(calls).to.have.length(16);
    for (const [title, ...figures] of calls) {
      for (const figure of figures) expect(figure, String(title)).to.be.finite.and.greaterThan(0);
    }
  });

  for (const [args, words] of [
    [["--seconds", "soon"], "--seconds is a number of seconds, more than 0 and at most 60, not soon"],
    [["--large", "0.5"], "--large is a number of jobs, at most 10000000, not 0.5"],
    [["--slow"], "--slow"],
  ] as const) {
    it(`refuses ${args.join(" ")}, and says what there is`, async () => {
      const { code, stderr } = await runProgram("bench/run.ts", [...args]).ended;

      expect(code).to.equal(1);
      expect(stderr).to.include(words).and.include("npm run bench -- [--quick]");
    });
  }
});
