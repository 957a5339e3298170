import { expect } from "chai";
import { labelOf } from "../../../src/hooks/mappings/requestLabel.ts";

type Case = readonly [sender: string, payload: object, headers: Record<string, string>, label: object];

const call = (payload: object, headers: Record<string, string> = {}) =>
  labelOf({ headers, payload: payload as never, url: "/hooks/x", path: "x", query: {} });

describe("the label of a request", () => {
  const cases: readonly Case[] = [
    [
      "GitHub",
      { action: "opened", repository: { full_name: "octo/shop" } },
      { "x-github-event": "issues" },
      { event: "issues · opened", object: "octo/shop" },
    ],
    [
      "GitLab",
      { object_kind: "pipeline", object_attributes: { status: "success" }, project: { path_with_namespace: "a/b" } },
      { "x-gitlab-event": "Pipeline Hook" },
      { event: "Pipeline Hook · success", object: "a/b" },
    ],
    [
      "Stripe",
      { type: "invoice.paid", data: { object: { id: "in_1" } } },
      {},
      { event: "invoice.paid", object: "in_1" },
    ],
    ["Grafana", { status: "firing", title: "Disk full" }, {}, { event: "firing", object: "Disk full" }],
    ["a binary CloudEvent", {}, { "ce-type": "a.b", "ce-subject": "s" }, { event: "a.b", object: "s" }],
    ["an action alone", { action: "create", data: { id: 7 } }, {}, { event: "create", object: "7" }],
    ["an unknown sender", { foo: { bar: 1 } }, {}, {}],
    ["a list", [{ type: "a" }], {}, {}],
    ["values that are no texts", { type: { a: 1 }, title: ["x"], id: null }, {}, {}],
  ];
  for (const [sender, payload, headers, label] of cases) {
    it(`names event and object of ${sender}`, () => {
      expect(call(payload, headers)).to.deep.equal(label);
    });
  }

  it("is at most 100 characters long, whatever a sender sends", () => {
    const long = `${"x".repeat(99)}😀`;
    const { event = "", object = "" } = call({ type: long, action: "y", title: long });
    expect([event.length, object.length]).to.deep.equal([100, 100]);
    expect([event.isWellFormed(), object.isWellFormed()]).to.deep.equal([true, true]);
  });
});
