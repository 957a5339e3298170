import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { MALLORY, useTurnShares } from "./useTurnShares.ts";

describe("the agent turns of a worker", () => {
  const { app, start, go, send, alice, find, ended } = useTurnShares();
  const mallory = (message: string) =>
    send("agent", MALLORY, { message, deliver: false, wakeMode: "next-heartbeat", timeoutSeconds: 3_600 });
  const count = (status: "running" | "completed") =>
    app.stores.runs.collection.native.countDocuments({ status, mapped: null });

  for (const concurrency of [2, 10]) {
    it(`leave one of ${concurrency} to another sender, however many slow turns the first has requested`, async () => {
      await start(concurrency);
      await Promise.all(Array.from({ length: 40 }, () => mallory("slow")));
      await eventually(async () => (await count("running")) > 0, "the slow turns");

      await ended(await alice("quick"));
      await ended(await alice("quick"));
      const [running, over] = [await count("running"), await count("completed")];

      expect(over).to.equal(0);
      expect(running).to.be.within(1, concurrency - 1);
    });
  }

  it("alternate between senders when only one runs at a time", async () => {
    await start(1);
    await mallory("slow");
    await eventually(async () => (await count("running")) === 1, "the slow turn");
    const ids = await Promise.all(Array.from({ length: 29 }, () => mallory("quick")));
    const id = await alice("quick");
    const queue = app.queues.all.find(({ name }) => name === "agent-hook");
    await eventually(async () => (await queue?.getWaitingCount()) === 0, "every run to be looked at");

    go();
    await ended(id);
    const runs = await Promise.all(ids.map(find));

    expect(runs.filter(({ status }) => status === "completed").length).to.be.below(15);
  });

  it("are all used by one sender with two workers, and every run gets one", async () => {
    await start(2, 2);
    const ids = await Promise.all(Array.from({ length: 20 }, () => mallory("quick")));

    await Promise.all(ids.map(ended));

    expect((await Promise.all(ids.map(find))).every(({ attempts }) => attempts === 1)).to.equal(true);
  });
});
