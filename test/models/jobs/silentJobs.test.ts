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

  /** Faults of a record, by which MongoDB cannot add a note to it. */
  const faults: Record<string, (job: mongo.Document) => object> = {
    "has a field of another type": () => ({ notes: "no list" }),
    "is as large as MongoDB permits": (job) => ({ filler: "x".repeat(MAX_BYTES - bsonSize(job) - FILLER_BYTES) }),
  };
  for (const [fault, fieldsOf] of Object.entries(faults)) {
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

      expect(await jobs.noteSilent(scan, 1).catch(() => "failed")).to.equal("failed");
      expect(await jobs.noteSilent(scan, 1)).to.equal(1);
      expect(await native.findOne({ jobId: "sound" })).to.have.nested.property("notes[0].type", "job.stale");
      expect(await jobs.noteSilent(scan, 1)).to.equal(0);
      await native.deleteMany({ jobId: { $in: ["broken", "sound"] } });
    });
  }
});
