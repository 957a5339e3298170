import { expect } from "chai";
import { latestDue, nextDue, scheduleOf } from "../../../src/models/notifications/expectation.ts";
import { cronFault, isTimezone, lastCron, nextCron } from "../../../src/shared/text/cron.ts";

const at = (time: string) => new Date(`${time}:00Z`);
const BERLIN = "Europe/Berlin";
const NEW_YORK = "America/New_York";

describe("cron expressions", () => {
  const cases = [
    { what: "a working day", cron: "0 3 * * 1-5", zone: "UTC", after: "2026-11-27T03:00", next: "2026-11-30T03:00" },
    { what: "the time zone", cron: "0 3 * * *", zone: BERLIN, after: "2026-01-10T12:00", next: "2026-01-11T02:00" },
    { what: "summer time", cron: "0 3 * * *", zone: BERLIN, after: "2026-07-10T12:00", next: "2026-07-11T01:00" },
    // Clocks go from 2 to 3 on 29 March, and from 3 to 2 on 25 October.
    { what: "a time left out", cron: "30 2 * * *", zone: BERLIN, after: "2026-03-28T12:00", next: "2026-03-29T01:30" },
    { what: "the day after it", cron: "30 2 * * *", zone: BERLIN, after: "2026-03-29T01:30", next: "2026-03-30T00:30" },
    { what: "the first of two", cron: "30 2 * * *", zone: BERLIN, after: "2026-10-24T12:00", next: "2026-10-25T00:30" },
    { what: "not the second", cron: "30 2 * * *", zone: BERLIN, after: "2026-10-25T00:30", next: "2026-10-26T01:30" },
    { what: "every hour", cron: "0 * * * *", zone: BERLIN, after: "2026-10-25T00:00", next: "2026-10-25T01:00" },
    { what: "New York", cron: "30 2 * * *", zone: NEW_YORK, after: "2026-03-07T12:00", next: "2026-03-08T07:30" },
  ];
  for (const { what, cron, zone, after, next } of cases) {
    it(`have the same times forwards and backwards: ${what}`, () => {
      expect(nextCron(cron, zone, at(after))).to.deep.equal(at(next));
      expect(lastCron(cron, zone, at(next)), "at its time").to.deep.equal(at(next));
      const [before, later] = [-1, 40 * 60_000].map((ms) => new Date(at(next).getTime() + ms)) as [Date, Date];
      expect(lastCron(cron, zone, later), "after it").to.deep.equal(at(next));
      expect(lastCron(cron, zone, before).getTime(), "before it").to.be.at.most(at(after).getTime());
    });
  }

  it("take the first of two equal times, and only one, when clocks have gone back", () => {
    expect(lastCron("30 2 * * *", BERLIN, at("2026-10-25T12:00"))).to.deep.equal(at("2026-10-25T00:30"));
  });

  it("need five fields and values that exist", () => {
    for (const cron of ["0 3 * * 1-5", "*/5 * * * *", "0 0 1 JAN *"]) expect(cronFault(cron), cron).to.equal(undefined);
    for (const cron of ["0 3 * *", "* * * * * *", "@daily", "99 * * * *", "0 3 30 2 *", "", "a b c d e"]) {
      expect(cronFault(cron), cron).to.be.a("string");
    }
    expect([isTimezone(BERLIN), isTimezone("Berlin")]).to.deep.equal([true, false]);
  });
});

describe("an expectation by cron", () => {
  const schedule = scheduleOf({ id: "b", name: "B", cron: "30 2 * * *", timezone: BERLIN, grace: "1h" });
  const state = { since: at("2026-03-28T12:00"), lastSeenAt: null, missedAt: null };

  it("misses a job once its time and the grace have passed, also where clocks leave that time out", () => {
    expect(nextDue(state, schedule)).to.deep.equal(at("2026-03-29T02:30"));
    expect(latestDue(state, schedule, at("2026-03-29T02:29"))).to.equal(undefined);
    expect(latestDue(state, schedule, at("2026-03-29T02:30"))).to.deep.equal(at("2026-03-29T02:30"));
  });

  it("is met by a job that began since the last time, and names the next one", () => {
    const met = { ...state, lastSeenAt: at("2026-03-29T01:31") };
    expect(latestDue(met, schedule, at("2026-03-29T05:00"))).to.equal(undefined);
    expect(nextDue(met, schedule)).to.deep.equal(at("2026-03-30T01:30"));
  });

  it("announces each time once, and then the next one", () => {
    const missed = { ...state, missedAt: at("2026-03-29T02:30") };
    expect(latestDue(missed, schedule, at("2026-03-29T23:00"))).to.equal(undefined);
    expect(nextDue(missed, schedule)).to.deep.equal(at("2026-03-30T01:30"));
    expect(latestDue(missed, schedule, at("2026-03-31T01:30"))).to.deep.equal(at("2026-03-31T01:30"));
  });
});
