import { expect } from "chai";
import fc from "fast-check";
import { webhookBody } from "../../../src/workers/notify/webhookBody.ts";

const MAX_BYTES = 20_000;

/** Texts that take one to six bytes of JSON for each character. */
const text = (maxLength: number) =>
  fc
    .tuple(fc.constantFrom("x", "\u0001", '"', "é", "字", "\u{1F4A5}"), fc.integer({ min: 0, max: maxLength }))
    .map(([character, length]) => character.repeat(Math.floor(length / character.length)));
/** Identifiers have no control characters. */
const id = fc
  .tuple(fc.constantFrom("x", "\\", "字", "\u{1F4A5}"), fc.integer({ min: 1, max: 256 }))
  .map(([character, length]) => character.repeat(Math.max(1, Math.floor(length / character.length))));
const time = fc.constant("2026-01-31T18:02:00.000Z");
const free = text(4_000).map((value) => ({ value }));

const step = fc.record({
  stepId: fc.uuid(),
  jobId: id,
  stepKey: id,
  stepName: text(1_024),
  message: text(65_536),
  status: fc.constant("running"),
  createdAt: time,
  updatedAt: time,
  startedAt: time,
  lastReportAt: time,
});
const job = fc.record({
  jobId: id,
  name: text(1_024),
  description: text(65_536),
  message: text(65_536),
  status: fc.constant("failed"),
  createdAt: time,
  updatedAt: time,
  lastReportAt: time,
  endedAt: time,
  staleAt: time,
  cancel: fc.record({ requestedAt: time, reason: text(1_024) }),
  currentStep: step,
  waitingFor: fc.array(id, { maxLength: 100 }),
});
const gate = fc.record({
  gateId: fc.uuid(),
  jobId: id,
  key: id,
  title: text(1_024),
  message: text(8_000),
  answeredBy: text(256),
  requestedSchema: free,
  content: free,
  createdAt: time,
  answeredAt: time,
  expiresAt: time,
});
const run = fc.record({
  runId: fc.uuid(),
  kind: fc.constant("agent"),
  name: text(1_024),
  sessionKey: text(1_024),
  error: fc.record({ code: fc.constant("x"), message: text(10_000) }),
  createdAt: time,
  endedAt: time,
});
const delivery = fc.record({
  deliveryId: id,
  runId: fc.uuid(),
  to: text(1_024),
  reason: text(10_000),
  createdAt: time,
  parts: fc.array(fc.record({ state: fc.constant("sent"), id: text(1_024) }), { maxLength: 100 }),
});
const url = id.map((jobId) => `https://jobs.example.com/jobs/${encodeURIComponent(jobId)}`);
const data = fc.oneof(
  fc.record({ job, reason: text(1_024), lastReportAt: time, gate, heldBack: fc.nat(), url }, { requiredKeys: ["job"] }),
  fc.record({ run }),
  fc.record({ delivery }),
);

const bodyOf = (of: object, format: "standard" | "cloudevents" = "standard") =>
  webhookBody({ id: "e", type: "job.failed", at: new Date(0), subject: "s", data: of }, of, {
    format,
    source: "https://jobs.example.com/api",
    hasIncluded: false,
  }).body;

describe("webhookBody", () => {
  it("is below 20 kB for every event, with whole ids and times", () => {
    const check = (of: object, format: "standard" | "cloudevents") => {
      const body = bodyOf(of, format);
      expect(Buffer.byteLength(body)).to.be.below(MAX_BYTES);
      const sent = JSON.parse(body).data;
      expect(sent.url).to.equal((of as { url?: string }).url);
      for (const [kind, ids] of Object.entries({
        job: ["jobId", "createdAt"],
        gate: ["gateId", "key", "expiresAt"],
        run: ["runId"],
        delivery: ["deliveryId"],
      }))
        for (const field of ids) expect(sent[kind]?.[field]).to.equal((of as never)[kind]?.[field]);
      const keys = sent.job?.waitingFor ?? [];
      expect((of as { job?: { waitingFor: string[] } }).job?.waitingFor.slice(0, keys.length) ?? []).to.deep.equal(
        keys,
      );
    };
    fc.assert(fc.property(data, fc.constantFrom("standard", "cloudevents"), check), { seed: 38, numRuns: 500 });
  });

  it("lists the first 20 of 100 open gates with long keys", () => {
    const waitingFor = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(243, "k"));
    const sent = JSON.parse(bodyOf({ job: { jobId: "j", message: "12 prices differ.", waitingFor } }));
    expect(sent.data.job).to.deep.equal({
      jobId: "j",
      message: "12 prices differ.",
      waitingFor: waitingFor.slice(0, 20),
    });
  });

  it("leaves a body that is small enough as it is", () => {
    const whole = { job: { jobId: "j", waitingFor: Array.from({ length: 100 }, (_, i) => `gate ${i}`) } };
    expect(JSON.parse(bodyOf(whole)).data).to.deep.equal(whole);
  });

  it("leaves out the form and the answer of a gate rather than a part of them", () => {
    const requestedSchema = {
      type: "object",
      properties: { color: { type: "string", enum: Array(50).fill("字".repeat(70)) } },
    };
    const content = { text: "字".repeat(3_900) };
    const sent = JSON.parse(bodyOf({ job: { jobId: "j" }, gate: { gateId: "g", requestedSchema, content } })).data;
    expect(sent.gate).to.deep.equal({ gateId: "g", requestedSchema: null, content: null });
  });
});
