import { fork } from "node:child_process";
import { on } from "node:events";
import { expect } from "chai";

describe("releaseMemoryWhenIdle()", () => {
  it("returns the memory of a load to the system", async () => {
    const child = fork("test/support/processes/idle.ts");
    try {
      let share = 1;
      for await (const [{ filledBytes, bytes }] of on(child, "message")) {
        share = bytes / filledBytes;
        if (share < 0.7) break;
      }
      expect(share).to.be.below(0.7);
    } finally {
      child.disconnect();
    }
  });
});
