import { randomUUID } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { type Client, createClient } from "../../src/client/client.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { runs } from "../support/random.ts";
import { anySequence, perform, stateAfter } from "./sequence.ts";
import { useShortBackoff } from "./shortBackoff.ts";

const RANGE = { name: "A step", from: 10, to: 60 };

describe("signalbox/client with any sequence of reports", function () {
  this.timeout(180_000);
  useShortBackoff();
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  /** Returns a client, with the numbers of its requests and of those without a response. */
  const counting = (url: string) => {
    const count = { sent: 0, lost: 0 };
    const fetch: typeof globalThis.fetch = async (input, init) => {
      count.sent++;
      try {
        return await globalThis.fetch(input, init);
      } catch (error) {
        count.lost++;
        throw error;
      }
    };
    return { count, client: createClient({ url, fetch }) };
  };
  const newStep = async (client: Client) => {
    const job = client.job(randomUUID());
    await job.create();
    return job.step("step", RANGE);
  };
  const read = (client: Client, step: { toJSON(): { jobId: string } }) =>
    client.jobs.get(step.toJSON().jobId, { include: "steps" });

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
