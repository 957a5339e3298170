import { expect } from "chai";
import { type Awaited, WaitingRequests } from "../../../src/api/live/waitingRequests.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import type { Change } from "../../../src/shared/queue/changeStream.ts";

const JOB: Change = { kind: "job", jobId: "a", moved: true };
const DEPS = { clock: systemClock, stillValid: async () => true };
/** A wait that only its time, its token or the service ends. */
const NEVER: Awaited<number> = {
  record: { kind: "job", jobId: "a" },
  readName: "value",
  read: async () => 0,
  isOver: () => false,
};

describe("WaitingRequests", () => {
  let waiting: WaitingRequests;
  let gone: AbortController;
  beforeEach(() => {
    waiting = new WaitingRequests({ ...DEPS, maxWaiting: 10, pollMs: 1_000_000 });
    waiting.onConnected();
    gone = new AbortController();
  });
  afterEach(() => waiting.close());

  const change = (...changes: Change[]) => waiting.onChanges(() => changes);
  /** Waits for a number of at least `goal`. */
  const counter = (goal: number, more: Partial<Awaited<number>> = {}) => {
    const counted = { reads: 0, value: 0, resolveRead: () => {} };
    const nextRead = () =>
      new Promise<void>((resolve) => {
        counted.resolveRead = resolve;
      });
    const awaited: Awaited<number> = {
      record: { kind: "job", jobId: "a" },
      readName: "value",
      async read() {
        counted.reads++;
        counted.resolveRead();
        return counted.value;
      },
      isOver: (value) => value >= goal,
      ...more,
    };
    return { counted, nextRead, start: () => waiting.until({ seconds: 60, gone: gone.signal }, awaited) };
  };

  it("reads again for a change of the record or of a step of it, but not of another record", async () => {
    const { counted, nextRead, start } = counter(1);
    const first = nextRead();
    const answer = start();
    await first;

    change({ kind: "job", jobId: "b", moved: true }, { kind: "run", id: "a" }, { kind: "delivery", id: "a" });
    const second = nextRead();
    change({ kind: "step", jobId: "a", stepKey: "s" });
    await second;
    counted.value = 1;
    change(JOB);
    const { value, headers } = await answer;

    expect([value, counted.reads]).to.deep.equal([1, 3]);
    expect(headers).to.deep.equal({ "Preference-Applied": "wait=60" });
    expect(waiting.size).to.equal(0);
  });

  it("reads once more for a change that arrives during a read", async () => {
    let release = () => {};
    let reads = 0;
    const { start } = counter(2, {
      read: () => {
        reads++;
        return reads > 1 ? Promise.resolve(2) : new Promise((resolve) => (release = () => resolve(1)));
      },
    });
    const answer = start();
    await new Promise(setImmediate);

    change(JOB);
    release();

    expect((await answer).value).to.equal(2);
    expect(reads).to.equal(2);
  });

  it("shares each read between all requests with the same name, and with no others", async () => {
    const { counted, start } = counter(1);
    const other = counter(1, { readName: "other" });
    const answers = [start(), start(), start(), other.start()];
    await new Promise(setImmediate);
    const readsAtFirst = counted.reads;

    counted.value = 1;
    other.counted.value = 1;
    change(JOB);
    await Promise.all(answers);

    expect([readsAtFirst, counted.reads, other.counted.reads]).to.deep.equal([1, 2, 2]);
  });

  it("reads again when the changes are too many to name, and when the connection to Redis is back", async () => {
    const { nextRead, start } = counter(1);
    const reads = [nextRead()];
    const answer = start();
    await reads[0];

    for (const wake of [() => change({ kind: "many" }), () => waiting.onDisconnected(), () => waiting.onConnected()]) {
      const read = nextRead();
      wake();
      if (wake.toString().includes("onDisconnected")) continue;
      await read;
    }
    waiting.end();

    expect((await answer).value).to.equal(0);
  });

  it("lets a job token hold a tenth of the waits, another token half of them, and server.apiToken all", async () => {
    const many = new WaitingRequests({ ...DEPS, maxWaiting: 40, pollMs: 1_000_000 });
    many.onConnected();
    const start = (actor: string, count: number) =>
      Array.from({ length: count }, () =>
        many.until({ seconds: 60, gone: gone.signal, caller: { actor, grants: [] } }, NEVER),
      );

    const waits = [];
    const sizes: number[] = [];
    for (const [actor, count] of [
      ["job-token:a", 40],
      ["job-token:b", 40],
      ["ci", 40],
      ["api-token", 10],
    ] as const) {
      waits.push(...start(actor, count));
      sizes.push(many.size);
    }
    many.close();
    await Promise.all(waits);

    expect(sizes).to.deep.equal([4, 8, 28, 38]);
    expect(many.size).to.equal(0);
  });

  it("ends a wait when the token of its caller ends, and all waits when the configuration is read again", async () => {
    const { start } = counter(1);
    const expiresAt = new Date(systemClock.now().getTime() + 20);
    await waiting.until({ seconds: 60, gone: gone.signal, caller: { actor: "ci", grants: [], expiresAt } }, NEVER);
    const other = start();
    waiting.restart();

    expect((await other).value).to.equal(0);
    expect(waiting.size).to.equal(0);
  });

  it("reads again when the value changes by itself, and every pollMs while that change is late", async () => {
    const often = new WaitingRequests({ ...DEPS, maxWaiting: 1, pollMs: 20 });
    often.onConnected();
    const changesAt = new Date(systemClock.now().getTime() + 30);
    let reads = 0;
    const readAt: number[] = [];

    const { value } = await often.until(
      { seconds: 60, gone: gone.signal },
      {
        record: { kind: "job", jobId: "a" },
        readName: "late",
        nextChangeAt: () => changesAt,
        read: async () => {
          readAt.push(systemClock.now().getTime());
          return ++reads;
        },
        isOver: (count) => count === 4,
      },
    );

    expect(value).to.equal(4);
    expect((readAt[1] ?? 0) - changesAt.getTime()).to.be.at.least(-1);
    expect((readAt[3] ?? 0) - (readAt[2] ?? 0)).to.be.at.least(15);
    often.close();
  });

  it("rejects with the error of a read, and frees the place", async () => {
    const { start } = counter(1, { read: () => Promise.reject(new Error("no such record")) });

    const error = await start().catch((thrown: Error) => thrown.message);

    expect([error, waiting.size]).to.deep.equal(["no such record", 0]);
  });

  it("neither reads again nor holds the place of a client that has left", async () => {
    const { counted, nextRead, start } = counter(1);
    const first = nextRead();
    const answer = start();
    await first;

    gone.abort();
    await answer;

    expect([counted.reads, waiting.size]).to.deep.equal([1, 0]);
  });

  it("does not wait for a client that left before the wait", async () => {
    const { counted, start } = counter(1);
    gone.abort();

    await start();

    expect([counted.reads, waiting.size]).to.deep.equal([1, 0]);
  });

  it("end: answers with the present state, and lets no later request wait", async () => {
    const { counted, nextRead, start } = counter(5);
    const first = nextRead();
    const answer = start();
    await first;
    counted.value = 3;

    waiting.end();
    const [ended, later] = [await answer, await start()];

    expect([ended.value, ended.headers]).to.deep.equal([3, { "Preference-Applied": "wait=60" }]);
    expect([later.value, later.headers]).to.deep.equal([3, {}]);
  });
});
