import { expect } from "chai";
import { announceMissing } from "../../../src/workers/notify/expectScan.ts";
import type { ScanDeps } from "../../../src/workers/notify/recordScan.ts";
import { createJob, report } from "../../support/factories.ts";
import { NotifyFixture, toLog } from "../../support/notifyFixture.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";

describe("notify: what was removed meanwhile", () => {
  let fixture: NotifyFixture;
  afterEach(() => fixture.close());
  const scan = (...expected: { id: string; name: string; every: string }[]) =>
    announceMissing({
      stores: fixture.app.stores,
      clock: fixture.app.clock,
      expect: expected,
      staleAfterSeconds: 1,
      timings: FAST_TIMINGS.sweep,
    } as unknown as ScanDeps);

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

  it("begins an expectation with the newest job of its name, also one from before it", async () => {
    fixture = await NotifyFixture.start([]);
    await fixture.stopWorker();
    for (const name of ["Nightly backup of a", "nightly backup of b"]) await createJob(fixture.app, { name });
    const { createdAt } = (await fixture.app.call("GET", "/api/jobs")).body.jobs[0];
    await createJob(fixture.app, { name: "Another" });

    await scan({ id: "backup", name: "Nightly backup", every: "1h" });
    const begun = await fixture.app.stores.expectations.list();
    await fixture.startWorker();

    expect(begun.map(({ lastSeenAt }) => lastSeenAt?.toISOString())).to.deep.equal([createdAt]);
  });

  it("begins an expectation anew that was removed from the configuration and is added again later", async () => {
    fixture = await NotifyFixture.start([]);
    await fixture.stopWorker(); // its scan knows no expectation
    const { stores, clock } = fixture.app;
    const backup = { id: "backup", name: "Nightly backup", every: "1h" };
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
