import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import { attacks } from "../../bench/attacks.ts";
import { CALLS } from "../../bench/calls.ts";
import type { LeakRow } from "../../bench/leak.ts";
import { saveResult } from "../../bench/results.ts";
import { CPU_WORKS, type SelfTest } from "../../bench/selfTest.ts";
import { CONNECTIONS, OWN_ROW_NAMES, ownRows, works } from "../../bench/works.ts";
import { canTestLinux } from "../support/machine.ts";
import { runProgram } from "./program.ts";

const WORKS = Object.keys(works);

/** Returns every number in a value with its path. */
function numbersIn(value: unknown, way = ""): [way: string, number: number][] {
  if (typeof value === "number") return [[way, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => numbersIn(one, `${way}/${key}`));
}

/** JSON contains null for infinite numbers and NaN. */
function expectPositive(figures: unknown): void {
  expect(JSON.stringify(figures)).to.not.include("null");
  const numbers = numbersIn(figures);
  expect(numbers).to.not.be.empty;
  for (const [way, number] of numbers) expect(number, way).to.be.greaterThan(0);
}

describe("bench self-test", function () {
  this.timeout(300_000); // It starts many processes.
  let made: SelfTest;
  let stderr: string;
  before(async () => {
    const ended = await runProgram("bench/run.ts", ["--selftest"]).ended;
    ({ stderr } = ended);
    expect(ended.code, stderr).to.equal(0);
    made = JSON.parse(ended.stdout);
  });

  it("has a row for each work and number of connections, with figures of both services", () => {
    const { rows } = made.compare;

    expect(rows.map(({ work, connections }) => [work, connections])).to.deep.equal(
      WORKS.flatMap((work) => CONNECTIONS.map((connections) => [work, connections])),
    );
    for (const { figures, ratio } of rows) {
      expect(figures).to.have.length(2);
      expectPositive([figures, ratio]);
    }
  });

  it("starts the table with whole lives of jobs, with all their requests", () => {
    const { rows } = made.compare;
    const requestsOf = { pipeline: 26, fanout: 62, mixed: 101 };

    expect(WORKS.slice(0, 3)).to.deep.equal(Object.keys(requestsOf));
    for (const { work, connections, figures } of rows.slice(0, 6)) {
      const jobsAtOnce = work === "fanout" ? connections / 10 : connections;
      for (const { requests } of figures) {
        expect(requests).to.be.at.least(jobsAtOnce * requestsOf[work as keyof typeof requestsOf]);
        expect(requests % requestsOf[work as keyof typeof requestsOf], work).to.equal(0);
      }
    }
  });

  it("compares works of Signalbox with each other, with figures of both works", () => {
    const { own } = made.compare;

    expect(own.map(({ row, connections }) => [row, connections])).to.deep.equal(
      OWN_ROW_NAMES.flatMap((row) => CONNECTIONS.map((connections) => [row, connections])),
    );
    for (const { figures, ratio } of own) {
      expect(figures).to.have.length(2);
      expectPositive([figures, ratio]);
    }
  });

  it("builds a result with machine, commit, goals and ratios, and without paths", () => {
    const { result, rows } = made.compare;

    expect(result).to.include.keys("date", "machine", "commit", "turns", "seconds", "rows", "own", "more");
    expect(result.machine).to.have.all.keys("cores", "cpu", "node", "mongod");
    expect(result.rows.map(({ title, ratio, goal }) => ({ title, ratio, goal }))).to.deep.equal(
      rows.map(({ work, connections, ratio }) => ({
        ...{ title: works[work].title, ratio },
        goal: works[work].goals[connections],
      })),
    );
    expect(result.own[0]).to.deep.include({ title: ownRows.run.title, goal: { rate: 0.7 } });
    expect(JSON.stringify(result)).to.not.include(process.cwd());
  });

  it("writes a result to a file named by day and machine, which replaces an earlier one", () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-results-"));
    const machine = { ...made.compare.result.machine, cores: 4, cpu: "AMD EPYC 7B13 (64-Core)" };
    const result = { ...made.compare.result, date: "2026-11-25T10:00:00.000Z", machine };
    saveResult({ ...result, turns: 9 }, folder);
    const file = saveResult(result, folder);

    expect(basename(file)).to.equal("2026-11-25-4xAMD-EPYC-7B13-64-Core.json");
    expect(readdirSync(folder)).to.deep.equal([basename(file)]);
    expect(JSON.parse(readFileSync(file, "utf8"))).to.deep.equal(result);
    rmSync(folder, { recursive: true });
  });

  it("has figures of all further measurements of the comparison", () => {
    const { processes, echo, footprints, starts, streams, waiting, hanging, heavy } = made.compare;

    expect(processes.map(({ connections }) => connections)).to.deep.equal([...CONNECTIONS]);
    expect(echo).to.have.length(1);
    expect(footprints.map(({ name }) => name)).to.deep.equal(["web", "worker"]);
    expect(starts.runs).to.equal(3);
    expect(heavy).to.have.length(8);
    expect(waiting.map(({ work }) => work)).to.deep.equal(["report", "read"]);
    expectPositive([
      processes,
      echo,
      waiting,
      footprints,
      heavy,
      hanging.quiet.read,
      hanging.hanging.read,
      streams.told,
    ]);
    expectPositive([streams.reports, streams.pages.open, streams.pages.jobs, streams.pages.reports]);
    // Differences of two clocks and of two sizes may be 0 or negative.
    for (const figure of [starts.p50, starts.p99, hanging.quiet.other, hanging.hanging.other, streams.kibEach]) {
      expect(figure).to.be.a("number").and.finite;
    }
  });

  if (canTestLinux())
    it("measures the processor time of each process for both services", () => {
      expect(made.cpu.map(({ work }) => work)).to.deep.equal(CPU_WORKS);
      for (const { figures } of made.cpu) {
        expect(figures).to.have.length(2);
        for (const [way, number] of numbersIn(figures)) expect(number, way).to.be.at.least(0).and.finite;
      }
      for (const service of [0, 1]) {
        const taken = numbersIn(made.cpu.map(({ figures }) => figures[service])).map(([, number]) => number);
        expect(taken.reduce((sum, one) => sum + one)).to.be.greaterThan(0);
      }
    });

  it("measures the effect of each attack, and closes connections with too large headers", () => {
    expect(made.attack.map(({ title }) => title)).to.deep.equal(Object.values(attacks).map(({ title }) => title));
    for (const { connections, noticed, memory } of made.attack) expectPositive({ connections, noticed, memory });
    expect(made.attack.find(({ title }) => title === attacks.large.title)?.cutOff).to.be.greaterThan(0);
  });

  it("compares every call with the same call on an empty database", () => {
    expect(made.large.map(({ title }) => title)).to.deep.equal(CALLS.map(({ title }) => title));
    for (const { p50 } of made.large) {
      expect(p50).to.have.length(2);
      expectPositive(p50);
    }
  });

  it("finds no leak after mixed requests", () => {
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
      for (const more of [handles, descriptors]) expect(more, process).to.be.below(requests / 3); // Pools may still grow.
      expect(new Set(rows.map(({ holding }) => holding[process].listeners)).size).to.equal(1);
    }
  });

  it("finds a deliberate leak in the web process, and none in the worker", () => {
    const { rows, verdicts } = made.leakOnPurpose;

    expect(faultsOf(rows)).to.deep.equal([]);
    expect(verdicts.map(({ process, memoryGrows, leaks }) => [process, memoryGrows, leaks])).to.deep.equal([
      ["web", true, true],
      ["worker", false, false],
    ]);
  });

  it("keeps a rate of requests, and checks that all accepted work is done", () => {
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
