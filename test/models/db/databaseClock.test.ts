import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { connectDatabase, type Database, DatabaseClock } from "../../../src/models/database.ts";
import { eventually } from "../../support/eventually.ts";
import { withMachineClock } from "../../support/machineClock.ts";
import { mongoUri } from "../../support/servers/servers.ts";

const HOUR_MS = 3_600_000;

describe("DatabaseClock", () => {
  it("returns the machine's time before the first reading and while it agrees with MongoDB's", async () => {
    const clock = new DatabaseClock();
    const threeTimes = () => [Date.now(), clock.now().getTime(), Date.now()] as const;
    const unheard = await withMachineClock(HOUR_MS, threeTimes);

    clock.read(new Date(Date.now() - 300));

    for (const [before, now, after] of [unheard, threeTimes()]) expect(now).to.be.within(before, after);
  });

  for (const aheadMs of [HOUR_MS, -HOUR_MS, 5_000, -5_000]) {
    it(`returns MongoDB's time if the machine's clock is wrong by ${aheadMs / 1_000} s`, async () => {
      const clock = new DatabaseClock();
      clock.read(new Date());

      const [own, shared] = await withMachineClock(aheadMs, () => [Date.now(), clock.now().getTime()] as const);

      expect(own - shared).to.be.within(aheadMs - 1_000, aheadMs + 1_000);
    });
  }

  it("ignores a single late reading, and follows readings that agree", async () => {
    const clock = new DatabaseClock();
    const late = () => clock.read(new Date(Date.now() - 60_000));
    clock.read(new Date());

    late();
    const afterOne = Date.now() - (await withMachineClock(HOUR_MS, () => clock.now().getTime()));
    for (let i = 0; i < 5; i++) late();
    const afterSeveral = Date.now() - (await withMachineClock(HOUR_MS, () => clock.now().getTime()));

    expect(afterOne).to.be.below(30_000);
    expect(afterSeveral).to.be.above(30_000);
  });

  it("reads MongoDB's time when the connection opens and with each heartbeat", async () => {
    const database: Database = await connectDatabase(await mongoUri(`test-${randomUUID()}`));
    try {
      const heard = await withMachineClock(HOUR_MS, () => Date.now() - database.clock.now().getTime());
      expect(heard).to.be.above(HOUR_MS / 2);

      for (let i = 0; i < 5; i++) database.clock.read(new Date(Date.now() - HOUR_MS));
      await eventually(
        () => withMachineClock(HOUR_MS, () => Date.now() - database.clock.now().getTime() < 1.5 * HOUR_MS),
        "a word of MongoDB's",
      );
    } finally {
      await database.close();
    }
  });
});
