import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Child } from "../../../bench/child.ts";
import type { LoadAnswer } from "../../../bench/load.ts";
import { ask } from "../../../bench/measure.ts";
import { benchOptions } from "../../../bench/options.ts";
import { runProgram } from "../../examples/program.ts";

describe("bench turn of whole lives", () => {
  const completed = { status: "completed", progress: 100, output: {} };
  for (const [title, job] of Object.entries({
    "is still running": { ...completed, status: "running" },
    "is not at 100": { ...completed, progress: 90 },
    "has no output": { ...completed, output: null },
  })) {
    it(`fails when a job ${title}`, async () => {
      const server = createServer((_, response) => response.end(JSON.stringify(job))).listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const answer: LoadAnswer = { measured: { requests: 26, perSecond: 1, p50: 1, p99: 1 }, jobIds: ["a"] };
      const load = { process: { send() {} }, nextMessage: async () => answer } as unknown as Child<true>;
      const task = { work: "pipeline", connections: 10, seconds: 1 } as const;

      const failure = await ask(load, { name: "naive", url, async clear() {} }, task).catch((error: Error) => error);
      expect(failure).to.be.an("error");
      expect((failure as Error).message).to.match(/^naive has not completed a job after its whole life/);
      server.closeAllConnections();
      server.close();
    });
  }
});

describe("bench command line", () => {
  it("defaults to a full run", () => {
    expect(benchOptions([], {})).to.deep.equal({
      ...{
        seconds: 1.25,
        turns: 5,
        quick: false,
        save: true,
        cpu: false,
        streams: false,
        waiting: false,
        tokens: false,
        attack: false,
        selftest: false,
      },
      ...{ large: 0, leak: 0, soak: 0, rate: 50, seed: 1 },
    });
  });

  it("accepts options with an optional number, with and without it", () => {
    expect(benchOptions(["--large", "--quick"], {})).to.include({ large: 1_000_000, turns: 1, seconds: 0.15 });
    expect(benchOptions(["--leak", "300", "--seed", "7"], {})).to.include({ leak: 300, seed: 7 });
    expect(benchOptions(["--soak", "0.05", "--rate", "20"], {})).to.include({ soak: 0.05, rate: 20 });
    expect(benchOptions([], { BENCH_SECONDS: "2" })).to.include({ seconds: 2 });
  });

  it("orders rows as in the tables, and saves only full runs unless --save is given", () => {
    const { only, save } = benchOptions(["--only", "insert,mixed,pipeline", "--turns", "3"], {});

    expect(only).to.deep.equal({ works: ["pipeline", "mixed"], own: ["insert"] });
    expect(save).to.equal(false);
    expect(benchOptions(["--quick"], {})).to.include({ save: false });
    expect(benchOptions(["--quick", "--save", "--turns", "3"], {})).to.include({ save: true, turns: 3 });
  });

  for (const [args, words] of [
    [["--only", "pipeline,life"], '--only: there is no row "life", only pipeline, fanout, mixed, report'],
    [["--turns", "0"], "--turns is a whole number from 1 to 100, not 0"],
    [["--leak", "0.5"], "--leak is a number of requests, at most 100000000, not 0.5"],
    [["--soak", "-1"], "Unknown option '-1'"],
    [["--seconds", "soon"], "--seconds is a number of seconds, more than 0 and at most 60, not soon"],
    [["--large", "0.5"], "--large is a number of jobs, at most 10000000, not 0.5"],
    [["--slow"], "--slow"],
  ] as const) {
    it(`rejects ${args.join(" ")} with a reason`, () => {
      expect(() => benchOptions([...args], {})).to.throw(words);
    });
  }

  it("exits with 1 and prints the usage for an invalid option", async () => {
    const { code, stderr } = await runProgram("bench/run.ts", ["--slow"]).ended;

    expect(code).to.equal(1);
    expect(stderr).to.include("--slow").and.include("npm run bench -- [--quick]");
  });
});
