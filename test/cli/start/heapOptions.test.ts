import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { heapOptions } from "../../../src/cli/start/heapOptions.ts";

/** Returns the limit of the heap in MiB that Node has with the printed options. */
function heapLimit(env: Record<string, string>, processes: string): number {
  const print = "console.log(require('v8').getHeapStatistics().heap_size_limit / 2 ** 20)";
  const line = `exec node $(node src/cli/start/printHeapOptions.ts ${processes}) -e "${print}"`;
  return Number(execFileSync("sh", ["-c", line], { env: { PATH: process.env.PATH, ...env }, encoding: "utf8" }));
}

describe("heapOptions()", () => {
  for (const [title, available, processes, expected] of [
    ["six tenths of 512 MiB", "512", 1, 307],
    ["half of that for each of two processes", "512", 2, 153],
    ["no less than 128 MiB", "64", 1, 128],
    ["no more than 1 GiB, however many MiB are said to be available", "1000000", 1, 1_024],
  ] as const) {
    it(`gives the heap ${title}`, () => {
      expect(heapOptions({ MEMORY_AVAILABLE: available }, processes)).to.deep.equal([
        `--max-old-space-size=${expected}`,
        "--max-semi-space-size=8",
      ]);
    });
  }

  it("takes the memory of the machine when MEMORY_AVAILABLE is not set, or not a number", () => {
    expect(heapOptions({ MEMORY_AVAILABLE: "much" })).to.deep.equal(heapOptions({}));
  });

  it("limits the heap of a process that is started with the printed options", () => {
    expect(heapLimit({ MEMORY_AVAILABLE: "512" }, "")).to.be.within(307, 340);
    expect(heapLimit({ MEMORY_AVAILABLE: "1024" }, "4")).to.be.within(153, 185);
  });
});
