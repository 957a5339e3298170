import { expect } from "chai";
import { mongo } from "mongoose";
import Value from "typebox/value";
import { newRunDoc, RunDoc } from "../../../src/models/runs/run.ts";
import { agentRequest } from "../../support/factories.ts";

describe("the definition of a document", () => {
  const accepted = { kind: "agent", name: null, sessionKey: "s", singleUse: false, mapped: null } as const;
  const run = newRunDoc({ _id: "r", ...accepted, request: agentRequest }, new Date());
  const { reply: _, ...withoutReply } = run;

  it("accepts a document as the service stores it", () => {
    expect(Value.Check(RunDoc, run)).to.equal(true);
  });

  const others: [string, object][] = [
    ["that lacks a field", withoutReply],
    ["with another field", { ...run, note: "x" }],
    ["with another field in a nested object", { ...run, request: { ...agentRequest, note: "x" } }],
    ["with null in a field that is never null", { ...run, order: null }],
    ["with an unknown status", { ...run, status: "waiting" }],
    ["with a time as text", { ...run, createdAt: new Date().toISOString() }],
    ["with a number as its timestamp", { ...run, order: 1 }],
    ["with another BSON type as its timestamp", { ...run, order: new mongo.ObjectId() }],
  ];
  for (const [title, document] of others) {
    it(`refuses a document ${title}`, () => {
      expect(Value.Check(RunDoc, document)).to.equal(false);
    });
  }
});
