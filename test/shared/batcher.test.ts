import { expect } from "chai";
import { Batcher, type BatcherOptions } from "../../src/shared/batcher.ts";
import { AppError } from "../../src/shared/errors.ts";

describe("Batcher", () => {
  let batches: {
    items: readonly number[];
    end: (results?: (string | Error)[]) => void;
    fail: (error: Error) => void;
  }[];
  beforeEach(() => {
    batches = [];
  });
  const start = (options: Partial<BatcherOptions<number>> = { maxConcurrency: 1 }) =>
    new Batcher<number, string>(
      (items) =>
        new Promise((resolve, reject) => {
          const all = items.map((item) => `done ${item}`);
          batches.push({ items, end: (results = all) => resolve(results), fail: reject });
        }),
      { maxBatchSize: 100, maxBatchWeight: Number.POSITIVE_INFINITY, weightOf: (item) => item, ...options },
    );
  /** Waits until every batch that may start has started. */
  const idle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const started = () => batches.map(({ items }) => items);

  it("processes a single call at once, and the calls that arrive meanwhile as one batch, in order", async () => {
    const batcher = start();

    const first = batcher.add(1);
    await idle();
    const rest = [2, 3, 4].map((item) => batcher.add(item));
    await idle();
    const during = started();
    batches[0]?.end();
    await idle();
    batches[1]?.end();

    expect(during).to.deep.equal([[1]]);
    expect(started()).to.deep.equal([[1], [2, 3, 4]]);
    expect(await Promise.all([first, ...rest])).to.deep.equal(["done 1", "done 2", "done 3", "done 4"]);
  });

  it("has two batches in flight by default, and later items wait for one of them", async () => {
    const batcher = start({});

    for (const item of [1, 2, 3, 4]) {
      void batcher.add(item);
      await idle();
    }
    const during = started();
    batches[0]?.end();
    await idle();

    expect(during).to.deep.equal([[1], [2]]);
    expect(started()).to.deep.equal([[1], [2], [3, 4]]);
  });

  it("joins the calls of one turn of the event loop", async () => {
    const batcher = start();

    for (const item of [1, 2, 3]) void batcher.add(item);
    await idle();

    expect(started()).to.deep.equal([[1, 2, 3]]);
  });

  for (const [title, options, expected] of [
    ["items", { maxBatchSize: 2 }, [[1, 5], [1, 1], [9]]],
    ["weight, but for an item that weighs more than that", { maxBatchWeight: 6 }, [[1, 5], [1, 1], [9]]],
  ] as const) {
    it(`puts no more into a batch than the maximum of ${title}`, async () => {
      const batcher = start(options);

      for (const item of [1, 5, 1, 1, 9]) void batcher.add(item);
      for (let i = 0; i < 3; i++) {
        await idle();
        batches[i]?.end();
      }
      await idle();

      expect(started()).to.deep.equal(expected);
    });
  }

  it("never has items of one key in two batches in flight", async () => {
    const batcher = start({ maxConcurrency: 2, keyOf: (item) => String(item % 10) });

    for (const item of [1, 2]) {
      void batcher.add(item);
      await idle();
    }
    for (const item of [11, 12, 3, 21]) void batcher.add(item);
    await idle();
    const during = started();
    batches[1]?.end();
    await idle();
    const then = started();
    batches[0]?.end();
    await idle();

    expect(during).to.deep.equal([[1], [2]]);
    expect(then).to.deep.equal([[1], [2], [12, 3]]);
    expect(started()).to.deep.equal([[1], [2], [12, 3], [11, 21]]);
  });

  it("starts a further batch once it is as large as those in flight, or full", async () => {
    const batcher = start({ maxConcurrency: 3, maxBatchSize: 3 });
    const add = async (...items: number[]) => {
      for (const item of items) void batcher.add(item);
      await idle();
      return started();
    };

    await add(1, 2);
    const small = await add(3);
    const equal = await add(4);
    const smaller = await add(5, 6);
    const full = await add(7);

    expect(small).to.deep.equal([[1, 2]]);
    expect(equal).to.deep.equal([
      [1, 2],
      [3, 4],
    ]);
    expect(smaller).to.deep.equal(equal);
    expect(full).to.deep.equal([...equal, [5, 6, 7]]);
  });

  it("rejects the call whose item failed, and resolves the others", async () => {
    const batcher = start();
    const answers = [1, 2].map((item) => batcher.add(item).catch((error: Error) => error.message));

    await idle();
    batches[0]?.end([new Error("no 1"), "done 2"]);

    expect(await Promise.all(answers)).to.deep.equal(["no 1", "done 2"]);
  });

  it("does not repeat a batch that is unavailable", async () => {
    const batcher = start();
    const answers = [1, 2].map((item) => batcher.add(item).catch((error: AppError) => error.code));

    await idle();
    batches[0]?.fail(new AppError("unavailable"));

    expect(await Promise.all(answers)).to.deep.equal(["unavailable", "unavailable"]);
    expect(started()).to.deep.equal([[1, 2]]);
  });

  it("processes each item alone after a whole batch has failed, and then the items that arrived meanwhile", async () => {
    const batcher = start();
    const answers = [1, 2].map((item) => batcher.add(item).catch((error: Error) => error.message));

    await idle();
    answers.push(batcher.add(3));
    batches[0]?.fail(new Error("poisoned"));
    await idle();
    batches[1]?.fail(new Error("it was 1"));
    for (let i = 2; i < 4; i++) {
      await idle();
      batches[i]?.end();
    }

    expect(started()).to.deep.equal([[1, 2], [1], [2], [3]]);
    expect(await Promise.all(answers)).to.deep.equal(["it was 1", "done 2", "done 3"]);
  });
});
