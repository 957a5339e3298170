import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect } from "chai";

const MIB = 1024 * 1024;

/** A process that fills memory and lets go of most of it, once more for each line it is sent; it says how much it has. */
const program = (fill: string, letGo: string, measured: string) => `
  import { returnIdleMemory } from "./src/shared/idleMemory.ts";
  returnIdleMemory({ lookEveryMs: 200 });
  const all = [];
  const once = () => {
    const kept = ${fill};
    console.log(${measured});
    all.push(${letGo});
  };
  once();
  process.stdin.on("data", once);
  setInterval(() => console.log(${measured}, all.length), 50);
`;

/** The size that a process has at first, in bytes, and when it has less than half of that; the same for each time more. */
async function halvings(code: string, times: number): Promise<[full: number, now: number][]> {
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module-typescript", "-e", code]);
  const seen: [full: number, now: number][] = [];
  let full = 0;
  try {
    for await (const line of createInterface(child.stdout)) {
      const now = Number.parseInt(line, 10);
      full = Math.max(full, now);
      if (now >= full / 2) continue;
      if (seen.push([full, now]) === times) break;
      full = 0;
      child.stdin.write("again\n");
    }
    return seen;
  } finally {
    child.kill("SIGKILL");
  }
}

describe("returnIdleMemory", () => {
  it("gives back the part of V8's heap that a process that has little to do no longer uses", async () => {
    const fill = 'Array.from({ length: 200_000 }, (_, i) => ({ i, text: "x".repeat(i % 50) + i }))';

    const [[full, now] = [0, 0]] = await halvings(program(fill, "[]", "process.memoryUsage().heapTotal"), 1);

    expect(full).to.be.greaterThan(20 * MIB);
    expect(now).to.be.lessThan(full / 2);
  });

  it("gives back each time what the C library has freed between allocations that live, though V8's heap is small", async function () {
    const { header } = process.report.getReport() as { header: object };
    if (!("glibcVersionRuntime" in header)) this.skip(); // no other is known to keep it
    const fill = "Array.from({ length: 1_500 }, () => Buffer.allocUnsafeSlow(100_000).fill(1))";

    const seen = await halvings(program(fill, "kept.filter((_, i) => i % 150 === 0)", "process.memoryUsage.rss()"), 3);

    expect(seen).to.have.length(3);
    for (const [full] of seen) expect(full).to.be.greaterThan(150 * MIB);
  });
});
