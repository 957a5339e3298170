import { expect } from "chai";
import { attacks } from "../../bench/attacks.ts";
import { runProgram } from "./program.ts";

const WORKS = ["report (PUT step)", "read (GET job)", "agent hook (POST)", "wake hook (POST)"];
const NUMBER = String.raw`-?\d+(\.\d+)?`;

/** The cells of those lines of a table that have the shape of a row. */
const tableOf = (text: string, row: RegExp) =>
  text.split("\n").flatMap((line) => (row.test(line) ? [line.trim().split(/ {2,}/)] : []));

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
    const { code, stdout, stderr } = await runProgram("bench/run.ts", ["--large", "3000", "--quick"]).ended;

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

  it("prints what each process takes of the processor for a request, ours beside naive", async function () {
    if (process.platform !== "linux") this.skip();
    const { code, stdout, stderr } = await runProgram("bench/run.ts", ["--cpu", "--quick"]).ended;

    expect(code, stderr).to.equal(0);
    const rows = tableOf(stdout, /\) +(\d+ +){10}\d+\.\d+$/);
    expect(rows.map(([work]) => work)).to.deep.equal(WORKS);
    for (const [work, ...figures] of rows) {
      for (const sum of [4, 9, 10]) expect(Number(figures[sum]), work).to.be.greaterThan(0);
    }
  });

  it("prints what others notice of each attack, in its short form", async () => {
    const { code, stdout, stderr } = await runProgram("bench/run.ts", ["--attack", "--quick"]).ended;

    expect(code, stderr).to.equal(0);
    const rows = tableOf(stdout, /\d+, \d+, \d+$/);
    expect(rows.map(([title]) => title)).to.deep.equal(Object.values(attacks).map(({ title }) => title));
    for (const [title, connections, reports, ratio, reads, readRatio, cutOff, memory] of rows) {
      for (const pair of [reports, reads]) expect(pair, title).to.match(/^\d+\.\d, \d+\.\d$/);
      for (const one of [connections, ratio, readRatio]) expect(Number(one), title).to.be.greaterThan(0);
      expect(
        memory
          ?.split(", ")
          .map(Number)
          .every((mib) => mib > 0),
      ).to.equal(true);
      if (title === attacks.large.title) expect(Number(cutOff)).to.be.greaterThan(0);
    }
  });

  it("shows that mixed requests leave nothing open, and no listener", async () => {
    const requests = 1_000;

    const { code, stdout, stderr } = await runProgram("bench/run.ts", ["--leak", String(requests)]).ended;

    expect(code, stdout + stderr).to.equal(0);
    expect(stderr).to.not.include("MaxListenersExceededWarning");
    const rows = tableOf(stdout, /^ *\d+ +\d+ +(web|worker) /);
    expect(rows).to.have.length(22);
    for (const process of ["web", "worker"]) {
      const mine = rows.filter(([, , name]) => name === process).map((row) => row.map(Number));
      const [first, last] = [mine[1]!, mine.at(-1)!];
      const [HANDLES, DESCRIPTORS, LISTENERS] = [6, 8, 9];
      for (const column of [HANDLES, DESCRIPTORS]) {
        expect(last[column]! - first[column]!).to.be.below(requests / 10); // pools still grow
      }
      expect(new Set(mine.map((row) => row[LISTENERS])).size).to.equal(1);
    }
    expect(stdout).to.match(/^web: memory does not grow .*\nworker: memory does not grow/m);
  });

  it("finds a leak that was made on purpose, and ends with 1", async () => {
    const env = { NODE_OPTIONS: `--import=${new URL("./leaking.ts", import.meta.url)}` };

    const { code, stdout } = await runProgram("bench/run.ts", ["--leak", "300"], env).ended;

    expect(code).to.equal(1);
    expect(stdout).to.match(/^web: memory GROWS .*\nworker: memory does not grow/m);
    expect(stdout).to.not.include("errors");
  });

  it("holds a rate, and sees that all that was accepted is done", async () => {
    const args = ["--soak", "0.05", "--rate", "20"];

    const { code, stdout, stderr } = await runProgram("bench/run.ts", args).ended;

    expect(code, stdout + stderr).to.equal(0);
    const rows = tableOf(stdout, /^ *\d\.\d +\d+ /);
    expect(rows).to.have.length(10);
    expect(stdout).to.match(/accepted: \d+ runs, \d+ wakes, \d+ deliveries, \d+ jobs that are there; all done/);
    expect(stdout).to.include("requests not answered as they are to be: 0\n");
  });

  for (const [args, words] of [
    [["--leak", "0.5"], "--leak is a number of requests, at most 100000000, not 0.5"],
    [["--soak", "-1"], "--soak"],
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
