import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { expect } from "chai";
import type { LoadAnswer } from "../../../bench/load.ts";
import { ask } from "../../../bench/measure.ts";
import { benchOptions } from "../../../bench/options.ts";
import type { Process, Service } from "../../../bench/services.ts";
import { WORK_NAMES } from "../../../bench/works.ts";
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
      const answer: LoadAnswer = { measured: { perSecond: 1, p99: 1 }, jobIds: ["a"] };
      const load = { send() {}, nextMessage: async () => answer } as unknown as Process;
      const service = { name: "plain", url } as Service;
      const task = { work: "pipeline", connections: 10, seconds: 1, jobs: 1 } as const;

      const failure = await ask(load, service, task).catch((error: Error) => error);
      expect(failure).to.be.an("error");
      expect((failure as Error).message).to.match(/^plain has not completed a job after its whole life/);
      server.closeAllConnections();
      server.close();
    });
  }
});

describe("bench command line", () => {
  it("defaults to a whole run, whose result is saved", () => {
    expect(benchOptions([])).to.deep.equal({
      seconds: 1.25,
      turns: 5,
      warmUpTurns: 2,
      jobs: 1_000,
      quick: false,
      save: true,
      works: WORK_NAMES,
      kinds: ["single", "set"],
    });
  });

  it("orders rows as in the table, and saves only whole runs", () => {
    const { works, save } = benchOptions(["--only", "agent,hot", "--turns", "3"]);

    expect(works).to.deep.equal(["hot", "agent"]);
    expect(save).to.equal(false);
    for (const args of [["--quick"], ["--mongodb", "set"], ["--beside", "../before"]]) {
      expect(benchOptions(args)).to.include({ save: false });
    }
    expect(benchOptions(["--beside", "../before"])).to.include({ beside: resolve("../before") });
  });

  for (const [args, words] of [
    [["--only", "pipeline,life"], '--only: "life" is unknown, only hot, report, log, pipeline'],
    [["--mongodb", "three"], '--mongodb: "three" is unknown, only single, set are known'],
    [["--turns", "0"], "--turns is a whole number from 1 to 100, not 0"],
    [["--seconds", "soon"], "--seconds is a number of seconds, more than 0 and at most 60, not soon"],
    [["--slow"], "--slow"],
  ] as const) {
    it(`rejects ${args.join(" ")} with a reason`, () => {
      expect(() => benchOptions([...args])).to.throw(words);
    });
  }

  it("exits with 1 and prints the usage for an invalid option", async () => {
    const { code, stderr } = await runProgram("bench/run.ts", ["--slow"]).ended;

    expect(code).to.equal(1);
    expect(stderr).to.include("--slow").and.include("npm run bench -- [--quick]");
  });
});
