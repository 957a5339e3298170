import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect } from "chai";

const MIB = 1024 * 1024;

/** A process that fills memory, lets go of most of it, and then waits; it says how much it has. */
const program = (fill: string, letGo: string, measured: string) => `
  import { returnIdleMemory } from "./src/shared/idleMemory.ts";
  returnIdleMemory({ lookEveryMs: 200 });
  let kept = ${fill};
  console.log(${measured});
  kept = ${letGo};
  setInterval(() => console.log(${measured}, kept.length), 50);
`;

/** In bytes, at first and again and again after that. */
async function* sizes(code: string): AsyncGenerator<number> {
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module-typescript", "-e", code]);
  try {
    for await (const line of createInterface(child.stdout)) yield Number.parseInt(line, 10);
  } finally {
    child.kill("SIGKILL");
  }
}

/** The first size, and the first that is below half of it. */
async function halved(code: string): Promise<[first: number, now: number]> {
  let first = 0;
  for await (const now of sizes(code)) {
    first ||= now;
    if (now < first / 2) return [first, now];
  }
  throw new Error("the process ended");
}

describe("returnIdleMemory", () => {
  it("gives back the part of V8's heap that a process that has little to do no longer uses", async () => {
    const fill = 'Array.from({ length: 200_000 }, (_, i) => ({ i, text: "x".repeat(i % 50) + i }))';

    const [first, now] = await halved(program(fill, "[]", "process.memoryUsage().heapTotal"));

    expect(first).to.be.greaterThan(20 * MIB);
    expect(now).to.be.lessThan(first / 2);
  });

  it("gives back what the C library has freed between allocations that live", async function () {
    const { header } = process.report.getReport() as { header: object };
    if (!("glibcVersionRuntime" in header)) this.skip(); // no other is known to keep it
    const fill = "Array.from({ length: 150_000 }, () => Buffer.allocUnsafeSlow(1024).fill(1))";

    const [first, now] = await halved(
      program(fill, "kept.filter((_, i) => i % 200 === 0)", "process.memoryUsage.rss()"),
    );

    expect(first).to.be.greaterThan(200 * MIB);
    expect(now).to.be.lessThan(first / 2);
  });
});
