import { expect } from "chai";
import { MALLORY, useTurnShares } from "../../../e2e/agents/useTurnShares.ts";

describe("the agent turns of a worker", () => {
  const { app, start, send, alice, ended } = useTurnShares();

  it("start soon for a sender whose mapped run was accepted after thousands of another sender's", async () => {
    await start(3);
    const items = Array<string>(1_000).fill("slow");
    for (let i = 0; i < 3; i++) await send("each", MALLORY, { items });

    const id = await alice("quick");
    await ended(id);

    const unmapped = await app.stores.runs.collection.native.countDocuments({ stage: "mapping" });
    expect(unmapped).to.be.above(1_000);
  });
});
