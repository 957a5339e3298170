import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect } from "chai";

/** A process that fills its heap, lets go of it, and then waits; it says how large its heap is. */
const program = (call: string) => `
  import { returnIdleMemory } from "./src/shared/idleMemory.ts";
  ${call}
  let kept = Array.from({ length: 200_000 }, (_, i) => ({ i, text: "x".repeat(i % 50) + i }));
  console.log(process.memoryUsage().heapTotal, kept.length);
  kept = undefined;
  setInterval(() => console.log(process.memoryUsage().heapTotal), 50);
`;

async function* heaps(call: string): AsyncGenerator<number> {
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module-typescript", "-e", program(call)]);
  try {
    for await (const line of createInterface(child.stdout)) yield Number.parseInt(line, 10);
  } finally {
    child.kill("SIGKILL");
  }
}

describe("returnIdleMemory", () => {
  it("gives back what a process that has little to do no longer uses", async () => {
    let first = 0;
    let now = 0;

    for await (const heap of heaps("returnIdleMemory({ lookEveryMs: 200 });")) {
      first ||= heap;
      now = heap;
      if (now < first / 2) break;
    }

    expect(first).to.be.greaterThan(20 * 1024 * 1024);
    expect(now).to.be.lessThan(first / 2);
  });
});
