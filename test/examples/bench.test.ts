import { expect } from "chai";
import { attacks } from "../../bench/attacks.ts";
import { CALLS } from "../../bench/calls.ts";
import type { LeakRow } from "../../bench/leak.ts";
import { benchOptions } from "../../bench/options.ts";
import type { SelfTest } from "../../bench/selfTest.ts";
import { CONNECTIONS, works } from "../../bench/works.ts";
import { runProgram } from "./program.ts";

const WORKS = Object.keys(works);

/** Every number in a value, with the way to it. */
function numbersIn(value: unknown, way = ""): [way: string, number: number][] {
  if (typeof value === "number") return [[way, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => numbersIn(one, `${way}/${key}`));
}

/** JSON has no number that is infinite or none: it says null. */
function expectPositive(figures: unknown): void {
  expect(JSON.stringify(figures)).to.not.include("null");
  const numbers = numbersIn(figures);
  expect(numbers).to.not.be.empty;
  for (const [way, number] of numbers) expect(number, way).to.be.greaterThan(0);
}

describe("bench: the self-test", function () {
  this.timeout(300_000); // starts many programs on a machine that may be busy
  let made: SelfTest;
  let stderr: string;
  before(async () => {
    const ended = await runProgram("bench/run.ts", ["--selftest"]).ended;
    ({ stderr } = ended);
    expect(ended.code, stderr).to.equal(0);
    made = JSON.parse(ended.stdout);
  });

  it("has a row of the comparison for each work and number of connections, with figures of both services", () => {
    const { rows } = made.compare;

    expect(rows.map(({ work, connections }) => [work, connections])).to.deep.equal(
      WORKS.flatMap((work) => CONNECTIONS.map((connections) => [work, connections])),
    );
    for (const { figures } of rows) {
      expect(figures).to.have.length(2);
      expectPositive(figures);
    }
  });

  it("has figures of everything that belongs to the comparison", () => {
    const { processes, echo, footprints, starts, streams, hanging, heavy } = made.compare;

    expect(processes.map(({ connections }) => connections)).to.deep.equal([...CONNECTIONS]);
    expect(echo).to.have.length(1);
    expect(footprints.map(({ name }) => name)).to.deep.equal(["web", "worker"]);
    expect(starts.runs).to.equal(3);
    expect(heavy).to.have.length(8);
    expectPositive([processes, echo, footprints, heavy, hanging.quiet.read, hanging.hanging.read, streams.told]);
    expectPositive(streams.reports);
    // two clocks' milliseconds, and the difference of two sizes: they may come to nothing, or less
    for (const figure of [starts.p50, starts.p99, hanging.quiet.other, hanging.hanging.other, streams.kibEach]) {
      expect(figure).to.be.a("number").and.finite;
    }
  });

  it("has what each process takes of the processor for each work, of both services", () => {
    if (process.platform !== "linux") return;
    expect(made.cpu.map(({ work }) => work)).to.deep.equal(WORKS);
    for (const { figures } of made.cpu) {
      expect(figures).to.have.length(2);
      for (const [way, number] of numbersIn(figures)) expect(number, way).to.be.at.least(0).and.finite;
    }
    for (const service of [0, 1]) {
      const taken = numbersIn(made.cpu.map(({ figures }) => figures[service])).map(([, number]) => number);
      expect(taken.reduce((sum, one) => sum + one)).to.be.greaterThan(0);
    }
  });

  it("has what others notice of each attack, and cuts off heads that are too large", () => {
    expect(made.attack.map(({ title }) => title)).to.deep.equal(Object.values(attacks).map(({ title }) => title));
    for (const { connections, noticed, memory } of made.attack) expectPositive({ connections, noticed, memory });
    expect(made.attack.find(({ title }) => title === attacks.large.title)?.cutOff).to.be.greaterThan(0);
  });

  it("has every call with jobs stored beside the same on an empty database", () => {
    expect(made.large.map(({ title }) => title)).to.deep.equal(CALLS.map(({ title }) => title));
    for (const { p50 } of made.large) {
      expect(p50).to.have.length(2);
      expectPositive(p50);
    }
  });

  it("finds that mixed requests leave nothing open, and no listener", () => {
    const { rows, verdicts } = made.leak;
    const requests = rows.at(-1)!.requests;

    expect(stderr).to.not.include("MaxListenersExceededWarning");
    expect(faultsOf(rows)).to.deep.equal([]);
    expect(verdicts.map(({ process, leaks }) => [process, leaks])).to.deep.equal([
      ["web", false],
      ["worker", false],
    ]);
    for (const { process, handles, descriptors, memoryGrows } of verdicts) {
      expect(memoryGrows).to.equal(false);
      for (const more of [handles, descriptors]) expect(more, process).to.be.below(requests / 3); // pools still grow
      expect(new Set(rows.map(({ holding }) => holding[process].listeners)).size).to.equal(1);
    }
  });

  it("finds a leak that was made on purpose in the web process, and none in the worker", () => {
    const { rows, verdicts } = made.leakOnPurpose;

    expect(faultsOf(rows)).to.deep.equal([]);
    expect(verdicts.map(({ process, memoryGrows, leaks }) => [process, memoryGrows, leaks])).to.deep.equal([
      ["web", true, true],
      ["worker", false, false],
    ]);
  });

  it("holds a rate, and sees that all that was accepted is done", () => {
    const { rows, undone, accepted, verdict } = made.soak;

    expect(rows).to.have.length(5);
    expect(faultsOf(rows.map(({ load }) => load))).to.deep.equal([]);
    expect(undone).to.deep.equal([]);
    expect(accepted).to.have.all.keys("runs", "wakes", "deliveries", "jobs");
    expect(accepted.jobs).to.be.greaterThan(0);
    expect(verdict.memory).to.have.length(2);
    expect(JSON.stringify(verdict)).to.not.include("null");
  });
});

const faultsOf = (rows: readonly Pick<LeakRow, "errors" | "faults">[]): string[] =>
  rows.flatMap(({ errors, faults }) => (errors > 0 ? [`${errors} errors: ${faults.join("; ")}`] : []));

describe("bench: the command line", () => {
  it("has the defaults of a full run", () => {
    expect(benchOptions([], {})).to.deep.equal({
      ...{ seconds: 1.25, turns: 5, quick: false, cpu: false, attack: false, selftest: false },
      ...{ large: 0, leak: 0, soak: 0, rate: 50, seed: 1 },
    });
  });

  it("takes options that may stand alone, with a number and without", () => {
    expect(benchOptions(["--large", "--quick"], {})).to.include({ large: 1_000_000, turns: 1, seconds: 0.15 });
    expect(benchOptions(["--leak", "300", "--seed", "7"], {})).to.include({ leak: 300, seed: 7 });
    expect(benchOptions(["--soak", "0.05", "--rate", "20"], {})).to.include({ soak: 0.05, rate: 20 });
    expect(benchOptions([], { BENCH_SECONDS: "2" })).to.include({ seconds: 2 });
  });

  for (const [args, words] of [
    [["--leak", "0.5"], "--leak is a number of requests, at most 100000000, not 0.5"],
    [["--soak", "-1"], "Unknown option '-1'"],
    [["--seconds", "soon"], "--seconds is a number of seconds, more than 0 and at most 60, not soon"],
    [["--large", "0.5"], "--large is a number of jobs, at most 10000000, not 0.5"],
    [["--slow"], "--slow"],
  ] as const) {
    it(`refuses ${args.join(" ")}, and says why`, () => {
      expect(() => benchOptions([...args], {})).to.throw(words);
    });
  }

  it("ends with 1 where it refuses an option, and says which there are", async () => {
    const { code, stderr } = await runProgram("bench/run.ts", ["--slow"]).ended;

    expect(code).to.equal(1);
    expect(stderr).to.include("--slow").and.include("npm run bench -- [--quick]");
  });
});
