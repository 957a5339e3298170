import { expect } from "chai";
import type { AlertedNotification } from "../../../src/models/notifications/alert.ts";
import { AlertChanges } from "../../../src/models/notifications/alertChanges.ts";

const KEY = '["rule","Backup"]';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("alerts", () => {
  const at = (minute: number) => new Date(minute * 60_000);
  const decide = (changes: AlertChanges, event: Partial<AlertedNotification>) => {
    const defaults = { id: "1", type: "job.failed" as const, at: at(0), count: 1, after: 1, cooldownMs: 0 };
    return changes.decide(KEY, { ...defaults, isUnhandled: event.type === "job.completed", ...event });
  };

  describe("of failures in a row", () => {
    /** Returns what is decided about events in the order of their dispatch: `f` has failed and `c` has completed, at a minute. */
    const decisions = (...dispatched: string[]) => {
      const changes = new AlertChanges([]);
      return dispatched.map((id) => {
        const type = id.startsWith("f") ? "job.failed" : "job.completed";
        return decide(changes, { id, type, at: at(Number(id.slice(1))), after: 3 }).kind;
      });
    };

    it("are announced although a completion from before them is dispatched late", () => {
      expect(decisions("f2", "f3", "c1", "f4")).to.deep.equal(["early", "early", "early", "send"]);
    });

    it("are announced although the completion before them is dispatched a second time", () => {
      expect(decisions("c1", "f2", "f3", "c1", "f4")).to.deep.equal(["early", "early", "early", "early", "send"]);
    });

    it("begin again after a completion in between", () => {
      expect(decisions("f2", "f3", "c4", "f5")).to.deep.equal(["early", "early", "early", "early"]);
    });
  });

  const keptFor = (event: Partial<AlertedNotification>) => {
    const changes = new AlertChanges([]);
    decide(changes, event);
    return changes.changed[0]!.expiresAt.getTime() - at(0).getTime();
  };

  it("with a cooldown are kept no longer than it, so that a storm of many names leaves nothing", () => {
    expect(keptFor({ cooldownMs: 3 * HOUR_MS })).to.equal(3 * HOUR_MS);
    expect(keptFor({ cooldownMs: 60_000 })).to.equal(HOUR_MS);
  });

  it("with a row of failures are kept for a quarter", () => {
    expect(keptFor({ after: 3 })).to.be.above(90 * DAY_MS);
  });
});
