import { expect } from "chai";
import { mongo, type Schema } from "mongoose";
import { newRunDoc } from "../../../src/models/runs/acceptance.ts";
import { runSchema } from "../../../src/models/runs/run.ts";
import { agentRequest } from "../../support/factories.ts";
import { faultsOf } from "../../support/servers/storedDocuments.ts";

describe("the schema of a document", () => {
  const accepted = { kind: "agent", name: null, sessionKey: "s", singleUse: false, mapped: null } as const;
  const run = newRunDoc({ _id: "r", ...accepted, request: agentRequest }, new Date());
  const { reply: _, ...withoutReply } = run;
  const faults = (document: object) => faultsOf(runSchema as unknown as Schema, document);

  it("accepts a document as the service stores it", async () => {
    expect(await faults(run)).to.deep.equal([]);
  });

  const others: [string, object][] = [
    ["that lacks a field", withoutReply],
    ["with another field", { ...run, note: "x" }],
    ["with another field in a nested object", { ...run, request: { ...agentRequest, note: "x" } }],
    ["that lacks a field in a nested object", { ...run, lease: { token: "t" } }],
    ["with null in a field that is never null", { ...run, order: null }],
    ["with an unknown status", { ...run, status: "resting" }],
    ["with a time as text", { ...run, createdAt: new Date().toISOString() }],
    ["with a number as text", { ...run, attempts: "1" }],
    ["with a number as its timestamp", { ...run, order: 1 }],
    ["with another BSON type as its timestamp", { ...run, order: new mongo.ObjectId() }],
  ];
  for (const [title, document] of others) {
    it(`refuses a document ${title}`, async () => {
      expect(await faults(document)).to.have.lengthOf.at.least(1);
    });
  }
});
