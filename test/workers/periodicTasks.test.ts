import { expect } from "chai";
import { AppError } from "../../src/shared/errors.ts";
import { startSchedules } from "../../src/workers/periodicTasks.ts";
import { eventually } from "../support/eventually.ts";
import { logLines } from "../support/logLines.ts";

describe("startSchedules", () => {
  const levelOf = async (error: Error) => {
    const { log, lines } = logLines();
    const queues = { schedule: () => Promise.reject(error), unschedule: async () => {} };
    const schedules = startSchedules(queues, log, { heartbeatEveryMs: null, renewEveryMs: 60_000 });
    try {
      return await eventually(() => lines[0]?.level, "a line of the log");
    } finally {
      await schedules.close();
    }
  };

  it("logs an outage of Redis for debugging, and every other failure as an error", async () => {
    expect(await levelOf(new AppError("unavailable", { detail: "Redis cannot be reached." }))).to.equal(20);
    expect(await levelOf(new TypeError("x is not a function"))).to.equal(50);
    expect(await levelOf(new Error("Missing key for job scheduler"))).to.equal(50);
  });
});
