import { expect } from "chai";
import { announceMissing } from "../../../src/workers/notify/expectScan.ts";
import type { ScanDeps } from "../../../src/workers/notify/recordScan.ts";
import { createJob, report } from "../../support/factories.ts";
import { NotifyFixture, toLog } from "../../support/notifyFixture.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";

describe("notify: what was removed meanwhile", () => {
  let fixture: NotifyFixture;
  afterEach(() => fixture.close());

  it("sends a recovery although retention has deleted the message about the silence", async () => {
    fixture = await NotifyFixture.start([{ id: "chat", on: ["job.stale", "job.recovered"], to: toLog }]);
    const { path } = await createJob(fixture.app, { staleAfterSeconds: 30 });
    await fixture.scanned();
    fixture.app.clock.advance(31_000);
    await fixture.delivered("chat", 1);
    await fixture.app.stores.deliveries.collection.native.deleteMany({});

    await report(fixture.app, path, "collect", { progress: 50 });

    const [recovered] = await fixture.delivered("chat", 1);
    expect(recovered?.event?.type).to.equal("job.recovered");
  });

  it("begins an expectation anew that was removed from the configuration and is added again later", async () => {
    fixture = await NotifyFixture.start([]);
    await fixture.stopWorker(); // its scan knows no expectation
    const { stores, clock } = fixture.app;
    const backup = { id: "backup", name: "Nightly backup", every: "1h" };
    const scan = (...expected: (typeof backup)[]) =>
      announceMissing({
        stores,
        clock,
        expect: expected,
        staleAfterSeconds: 1,
        timings: FAST_TIMINGS.sweep,
      } as unknown as ScanDeps);
    await scan(backup);
    await scan();
    clock.advance(240 * 3_600_000);

    await scan(backup);
    clock.advance(59_000);
    await scan(backup);
    const missing = await stores.expectations.list();
    await fixture.startWorker();

    expect(missing.flatMap(({ notes = [], missedAt }) => [...notes, missedAt])).to.deep.equal([null]);
  });
});
