import { expect } from "chai";
import { firstPending, waitsFor } from "../../../../src/dashboard/data/delivery/waitsFor.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const LATER = "2026-06-01T00:05:00.000Z";
const EARLIER = "2026-05-31T23:59:00.000Z";

const row = (deliveryId: string, change: object = {}) => ({
  deliveryId,
  kind: "channel" as const,
  channel: "log",
  to: "ops",
  state: "pending" as const,
  notBefore: null,
  parts: [],
  ...change,
});

describe("what a pending delivery waits for", () => {
  const sending = {
    parts: [
      { state: "sent", id: "1" },
      { state: "sending", id: null },
    ],
  };
  const cases = [
    ["its worker, if it is the first of its recipient", row("a"), [row("b"), row("a")], { kind: "worker" }],
    ["another one to the same recipient", row("b"), [row("b"), row("a")], { kind: "another" }],
    ["no delivery that has ended", row("b"), [row("b"), row("a", { state: "sent" })], { kind: "worker" }],
    ["no delivery to another recipient", row("b"), [row("b"), row("a", { to: "eva" })], { kind: "worker" }],
    ["no other webhook", row("b", { kind: "webhook" }), [row("b"), row("a")], { kind: "worker" }],
    ["its next attempt", row("a", { notBefore: LATER }), [row("a")], { kind: "attempt", at: LATER }],
    ["no attempt that is due", row("a", { notBefore: EARLIER }), [row("a")], { kind: "worker" }],
    ["the answer to what is being sent", row("a", sending), [row("a")], { kind: "sending" }],
    ["nothing once it is sent", row("a", { state: "sent" }), [row("a")], null],
    ["nothing once it has failed", row("a", { state: "failed" }), [row("a")], null],
  ] as const;
  for (const [title, one, rows, expected] of cases) {
    it(`is ${title}`, () => {
      expect(waitsFor(one as never, firstPending(rows as never), NOW)).to.deep.equal(expected);
    });
  }
});
