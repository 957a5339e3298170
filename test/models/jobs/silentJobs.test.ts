import { expect } from "chai";
import { openStores } from "../../../src/models/stores.ts";
import { useSharedApp } from "../../support/useApp.ts";

describe("noteSilent", () => {
  const app = useSharedApp();

  it("announces the other jobs when the record of one cannot be updated", async () => {
    const wanted = { types: new Set(["job.stale" as const]), callbacks: false, traces: false };
    const { jobs } = openStores(app.database, app.clock, { staleAfterSeconds: 60, wanted });
    const { native } = jobs.collection;
    await jobs.put("broken", {});
    await native.updateOne({ jobId: "broken" }, { $set: { notes: "no list" } as never });
    app.clock.advance(120_000);
    await jobs.put("sound", {});
    app.clock.advance(3_600_000);
    const scan = { now: app.clock.now(), resumedAt: null };

    const first = await jobs.noteSilent(scan, 1).catch((error: Error) => error.name);
    expect(first).to.equal("MongoBulkWriteError");
    expect(await jobs.noteSilent(scan, 1)).to.equal(1);
    expect(await native.findOne({ jobId: "sound" })).to.have.nested.property("notes[0].type", "job.stale");
    expect(await jobs.noteSilent(scan, 1)).to.equal(0);
    await native.deleteOne({ jobId: "broken" });
  });
});
