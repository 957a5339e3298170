import { expect } from "chai";
import { runsAhead } from "../../../../src/dashboard/data/run/runsAhead.ts";

const run = (runId: string, status: "queued" | "running" | "completed", sessionKey = "main") => ({
  runId,
  status,
  sessionKey,
});

describe("the run that a queued run waits behind", () => {
  const cases = [
    ["the running one of its session", [run("b", "queued"), run("a", "running")], { b: "a" }],
    ["the queued one before it", [run("c", "queued"), run("b", "queued"), run("a", "running")], { b: "a", c: "b" }],
    ["none of another session", [run("b", "queued"), run("a", "running", "other")], {}],
    ["none that has ended", [run("b", "queued"), run("a", "completed")], {}],
    ["none for a run that is running", [run("b", "running"), run("a", "queued")], {}],
  ] as const;
  for (const [title, rows, expected] of cases) {
    it(`is ${title}`, () => {
      const ahead = [...runsAhead(rows)].map(([id, { runId }]) => [id, runId]);
      expect(Object.fromEntries(ahead)).to.deep.equal(expected);
    });
  }
});
