import { expect } from "chai";
import fc from "fast-check";
import { runs } from "../support/random.ts";
import { useSharedApp } from "../support/useApp.ts";
import { counting, newStep, read } from "./counting.ts";
import { anySequence, perform, stateAfter } from "./sequence.ts";
import { useShortBackoff } from "./shortBackoff.ts";

describe("signalbox/client with any sequence of reports", function () {
  this.timeout(180_000);
  useShortBackoff();

  const app = useSharedApp();

  it("leaves the last state, each end and each attempt on the service, with few requests", async () => {
    await fc.assert(
      fc.asyncProperty(anySequence(200), async (calls) => {
        const { client, count } = counting(app.url);
        const step = await newStep(client);

        await perform(
          step,
          calls.filter(({ kind }) => kind !== "turn"),
        );
        await step.flush();

        const requests = count.sent - 1;
        const expected = stateAfter(calls);
        const { steps } = await read(client, step);
        if (expected) expect(steps?.[0]).to.deep.include(expected);
        else expect(steps).to.deep.equal([]);
        const ends = calls.filter(({ kind }) => kind === "complete" || kind === "fail").length;
        expect(requests).to.be.at.most(3 * ends + 2);
      }),
      runs(30),
    );
  });
});
