import { expect } from "chai";
import pino from "pino";
import { agentHook, mappedHook } from "../../src/shared/queues.ts";
import { acceptedRunsProcessor } from "../../src/workers/processors/acceptedRuns.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { FAST_TIMINGS } from "../support/timings.ts";

describe("runs that were accepted together", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(() => app.close());
  const process = (payload: object) =>
    acceptedRunsProcessor(app.queues)(
      { id: "1", payload, lastTry: true },
      { signal: new AbortController().signal, clock: app.clock, log: pino({ level: "silent" }), timings: FAST_TIMINGS },
    );
  const waiting = async ({ name }: { name: string }) =>
    (await app.queues.open.find((queue) => queue.name === name)?.getWaiting())?.map(({ id, data }) => [id, data.runId]);

  for (const queue of [agentHook, mappedHook]) {
    it(`are each on ${queue.name} under their own ids, once, though it is done twice`, async () => {
      const payload = { queue: queue.name, runIds: ["a", "b", "c"] };

      const outcomes = [await process(payload), await process(payload)];

      expect(outcomes).to.deep.equal(Array(2).fill({ kind: "done", result: { runs: 3 } }));
      expect(await waiting(queue)).to.have.deep.members([
        ["a", "a"],
        ["b", "b"],
        ["c", "c"],
      ]);
    });
  }
});
