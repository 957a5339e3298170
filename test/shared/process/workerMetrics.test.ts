import { EventEmitter } from "node:events";
import { expect } from "chai";
import { relayMetrics } from "../../../src/cli/start/relayMetrics.ts";
import {
  answerMetricsRequests,
  OFFER,
  type Peer,
  requestWorkerMetrics,
} from "../../../src/shared/process/workerMetrics.ts";

/** Two ends of a channel, as a process and its child have. */
function channel(): [Peer & EventEmitter, Peer & EventEmitter] {
  const ends = [new EventEmitter(), new EventEmitter()] as const;
  const peer = (own: EventEmitter, other: EventEmitter) =>
    Object.assign(own, {
      connected: true,
      send: (message: unknown) => void setImmediate(() => other.emit("message", message)),
    });
  return [peer(...ends), peer(ends[1], ends[0])];
}

describe("the worker's metrics through the parent process", () => {
  it("reach the web process after an offer", async () => {
    const [web, webInParent] = channel();
    const [worker, workerInParent] = channel();
    answerMetricsRequests(worker, async () => "x 1\n");
    const offered = new Promise((resolve) => web.once("message", resolve));

    relayMetrics(webInParent, () => workerInParent);

    expect(await offered).to.equal(OFFER);
    expect(await requestWorkerMetrics(web, 5_000)).to.equal("x 1\n");
  });

  it("are empty while the worker is restarted, and when it cannot read them", async () => {
    const [web, webInParent] = channel();
    const [worker, workerInParent] = channel();
    answerMetricsRequests(worker, () => Promise.reject(new Error("no metrics")));
    let running: Peer | undefined;
    relayMetrics(webInParent, () => running);

    const restarting = await requestWorkerMetrics(web, 5_000);
    running = workerInParent;
    const failing = await requestWorkerMetrics(web, 5_000);

    expect([restarting, failing]).to.deep.equal(["", ""]);
  });

  it("are empty when no answer comes in time, and leave no listener behind", async () => {
    const [web] = channel();

    expect(await requestWorkerMetrics(web, 1)).to.equal("");
    expect(web.listenerCount("message")).to.equal(0);
  });
});
