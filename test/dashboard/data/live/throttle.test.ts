import { expect } from "chai";
import sinon from "sinon";
import { throttle } from "../../../../src/dashboard/data/live/throttle.ts";

describe("throttle of the dashboard", () => {
  let clock: sinon.SinonFakeTimers;
  beforeEach(() => {
    clock = sinon.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => clock.restore());

  it("calls once for a burst of requests, as soon as the requests return", () => {
    const act = sinon.spy();
    const request = throttle(act, 1_000);

    request();
    request();
    const before = act.callCount;
    clock.tick(0);

    expect([before, act.callCount]).to.deep.equal([0, 1]);
  });

  it("calls at most once per interval, and once more for requests since the last call", () => {
    const act = sinon.spy();
    const request = throttle(act, 1_000);
    const counts: number[] = [];

    for (let ms = 0; ms < 2_500; ms += 100) {
      request();
      clock.tick(100);
      counts.push(act.callCount);
    }
    clock.tick(10_000);

    expect([counts[0], counts.at(-1), act.callCount]).to.deep.equal([1, 3, 4]);
  });

  it("makes no requested call after it was stopped, but calls for later requests", () => {
    const act = sinon.spy();
    const request = throttle(act, 1_000);

    request();
    request.stop();
    clock.tick(5_000);
    const whileStopped = act.callCount;
    request();
    clock.tick(0);

    expect([whileStopped, act.callCount]).to.deep.equal([0, 1]);
  });
});
