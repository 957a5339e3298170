import { expect } from "chai";
import { mongo } from "mongoose";
import { openStores } from "../../../src/models/stores.ts";
import { useSharedApp } from "../../support/useApp.ts";

/** MongoDB's limit for a document. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The bytes of a text field apart from its text: type, the name `filler`, length and two ends. */
const FILLER_BYTES = 13;
const bsonSize = (document: mongo.Document) => mongo.BSON.calculateObjectSize(document);

describe("noteSilent", () => {
  const app = useSharedApp();

  const largest = (job: mongo.Document) => ({ filler: "x".repeat(MAX_BYTES - bsonSize(job) - FILLER_BYTES) });
  // Faults of a record by which MongoDB cannot add a note to it, and the error that the scan throws after the other jobs.
  for (const [fault, fieldsOf, error] of [
    ["has a field of another type", () => ({ notes: "no list" }), "MongoBulkWriteError"],
    ["is as large as MongoDB permits", largest, "AppError"],
  ] as const) {
    it(`announces the other jobs when the record of one ${fault}`, async () => {
      const wanted = { types: new Set(["job.stale" as const]), callbacks: false, traces: false };
      const { jobs } = openStores(app.database, app.clock, { staleAfterSeconds: 60, wanted });
      const { native } = jobs.collection;
      await jobs.put("broken", {});
      const job = await native.findOne({ jobId: "broken" });
      await native.updateOne({ jobId: "broken" }, { $set: fieldsOf(job as mongo.Document) as never });
      app.clock.advance(120_000);
      await jobs.put("sound", {});
      app.clock.advance(3_600_000);
      const scan = { now: app.clock.now(), resumedAt: null };

      const first = await jobs.noteSilent(scan, 1).catch((thrown: Error) => thrown.name);
      expect(first).to.equal(error);
      expect(await jobs.noteSilent(scan, 1)).to.equal(1);
      expect(await native.findOne({ jobId: "sound" })).to.have.nested.property("notes[0].type", "job.stale");
      expect(await jobs.noteSilent(scan, 1)).to.equal(0);
      await native.deleteMany({ jobId: { $in: ["broken", "sound"] } });
    });
  }
});
