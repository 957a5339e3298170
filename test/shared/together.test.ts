import { expect } from "chai";
import { AppError } from "../../src/shared/errors.ts";
import { ALIKE, Together, type TogetherOptions } from "../../src/shared/together.ts";
import { eventually } from "../support/eventually.ts";

describe("Together", () => {
  let acts: {
    items: readonly number[];
    begunAt: number;
    end: (outs?: (string | Error)[]) => void;
    fail: (error: Error) => void;
  }[];
  beforeEach(() => {
    acts = [];
  });
  const start = (options: Partial<TogetherOptions<number>> = { atOnce: 1 }) =>
    new Together<number, string>(
      (items) =>
        new Promise((resolve, reject) => {
          const all = items.map((item) => `done ${item}`);
          acts.push({ items, begunAt: performance.now(), end: (outs = all) => resolve(outs), fail: reject });
        }),
      { most: 100, mostWeight: Number.POSITIVE_INFINITY, weightOf: (item) => item, ...options },
    );
  /** Lets all that can happen without another's doing happen. */
  const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const told = () => acts.map(({ items }) => items);

  it("does what comes alone at once, and what comes meanwhile in one act afterwards, in order", async () => {
    const together = start();

    const first = together.add(1);
    await settled();
    const rest = [2, 3, 4].map((item) => together.add(item));
    await settled();
    const during = told();
    acts[0]?.end();
    await settled();
    acts[1]?.end();

    expect(during).to.deep.equal([[1]]);
    expect(told()).to.deep.equal([[1], [2, 3, 4]]);
    expect(await Promise.all([first, ...rest])).to.deep.equal(["done 1", "done 2", "done 3", "done 4"]);
  });

  it("has two acts under way where nothing else is said; what comes next waits for one to end", async () => {
    const together = start({});

    for (const item of [1, 2, 3, 4]) {
      void together.add(item);
      await settled();
    }
    const during = told();
    acts[0]?.end();
    await settled();

    expect(during).to.deep.equal([[1], [2]]);
    expect(told()).to.deep.equal([[1], [2], [3, 4]]);
  });

  it("joins what arrives in one turn of the event loop", async () => {
    const together = start();

    for (const item of [1, 2, 3]) void together.add(item);
    await settled();

    expect(told()).to.deep.equal([[1, 2, 3]]);
  });

  it("begins the first act at once, and another no sooner than so many ms after it, with all that has come", async () => {
    const together = start({ everyMs: 50, weightOf: () => 1 });

    void together.add(1);
    await settled();
    const atOnce = told();
    acts[0]?.end();
    void together.add(2);
    await settled();
    const third = together.add(3);
    await eventually(() => acts.length === 2, "the next act");
    acts[1]?.end();
    await third;

    expect(atOnce).to.deep.equal([[1]]);
    expect(told()).to.deep.equal([[1], [2, 3]]);
    const [first, next] = acts.map(({ begunAt }) => begunAt);
    expect((next ?? 0) - (first ?? 0)).to.be.greaterThan(45); // a timer may be early
  });

  for (const lingersAwake of [true, false]) {
    it(`waits a while ${lingersAwake ? "awake" : "asleep"} for as many as the act before had, and for nobody after one that was alone`, async () => {
      const turn = () => new Promise((resolve) => setImmediate(resolve));
      const together = start({ lingerMs: 200, lingersAwake, weightOf: () => 1 });

      for (const item of [1, 2, 3]) void together.add(item);
      await settled();
      acts[0]?.end();
      for (const item of [4, 5, 6]) {
        await turn();
        await turn();
        void together.add(item);
      }
      await settled();
      acts[1]?.end();
      await settled();
      void together.add(7);
      await eventually(() => acts.length === 3, "the act of the one that nobody joins");
      acts[2]?.end();
      await settled();
      void together.add(8);
      await settled();

      expect(told()).to.deep.equal([[1, 2, 3], [4, 5, 6], [7], [8]]);
    });
  }

  for (const [title, options, expected] of [
    ["items", { most: 2 }, [[1, 5], [1, 1], [9]]],
    ["weight, and what weighs more goes alone", { mostWeight: 6 }, [[1, 5], [1, 1], [9]]],
  ] as const) {
    it(`takes no more at once than so many ${title}`, async () => {
      const together = start(options);

      for (const item of [1, 5, 1, 1, 9]) void together.add(item);
      for (let i = 0; i < 3; i++) {
        await settled();
        acts[i]?.end();
      }
      await settled();

      expect(told()).to.deep.equal(expected);
    });
  }

  it("has as many acts under way as it may, but none of them about the same as another", async () => {
    const together = start({ atOnce: 2, keyOf: (item) => String(item % 10) });

    for (const item of [1, 2]) {
      void together.add(item);
      await settled();
    }
    for (const item of [11, 12, 3, 21]) void together.add(item);
    await settled();
    const during = told();
    acts[1]?.end();
    await settled();
    const then = told();
    acts[0]?.end();
    await settled();

    expect(during).to.deep.equal([[1], [2]]);
    expect(then).to.deep.equal([[1], [2], [12, 3]]);
    expect(told()).to.deep.equal([[1], [2], [12, 3], [11, 21]]);
  });

  it("begins another act beside one with as many items as that has, or the most there may be", async () => {
    const together = start({ atOnce: 3, most: 3 });
    const add = async (...items: number[]) => {
      for (const item of items) void together.add(item);
      await settled();
    };

    await add(1, 2);
    await add(3);
    const alone = told();
    await add(4);
    const two = told();
    await add(5, 6);
    const full = told();
    await add(7);

    expect(alone).to.deep.equal([[1, 2]]);
    expect(two).to.deep.equal([
      [1, 2],
      [3, 4],
    ]);
    expect(full).to.deep.equal(two);
    expect(told().slice(2)).to.deep.equal([[5, 6, 7]]);
  });

  for (const [title, actsFirst, expected] of [
    ["begins the next act and tells then", true, ["begins 2", "told 1", "told 2"]],
    [
      "tells first and begins then, with what comes of that, where nothing else is said",
      false,
      ["told 1", "begins 2", "told 2"],
    ],
  ] as const) {
    it(`${title}, when an act has ended`, async () => {
      const seen: string[] = [];
      const ends: (() => void)[] = [];
      const act = async (items: readonly number[]) => {
        seen.push(`begins ${items}`);
        await new Promise<void>((resolve) => ends.push(resolve));
        return items;
      };
      const together = new Together(act, { ...ALIKE, atOnce: 1, actsFirst });
      const add = (item: number) => together.add(item).then(() => seen.push(`told ${item}`));

      const all = [add(1)];
      await settled();
      all.push(add(2));
      ends[0]?.();
      await settled();
      ends[1]?.();
      await Promise.all(all);

      expect(seen).to.deep.equal(["begins 1", ...expected]);
    });
  }

  it("tells each item what is wrong with it, and the others what has become of them", async () => {
    const together = start();
    const answers = [1, 2].map((item) => together.add(item).catch((error: Error) => error.message));

    await settled();
    acts[0]?.end([new Error("no 1"), "done 2"]);

    expect(await Promise.all(answers)).to.deep.equal(["no 1", "done 2"]);
  });

  it("asks nobody again for what is unavailable to all", async () => {
    const together = start();
    const answers = [1, 2].map((item) => together.add(item).catch((error: AppError) => error.code));

    await settled();
    acts[0]?.fail(new AppError("unavailable"));

    expect(await Promise.all(answers)).to.deep.equal(["unavailable", "unavailable"]);
    expect(told()).to.deep.equal([[1, 2]]);
  });

  it("asks for each alone where an act fails as a whole, and goes on with what came meanwhile", async () => {
    const together = start();
    const answers = [1, 2].map((item) => together.add(item).catch((error: Error) => error.message));

    await settled();
    answers.push(together.add(3));
    acts[0]?.fail(new Error("poisoned"));
    await settled();
    acts[1]?.fail(new Error("it was 1"));
    for (let i = 2; i < 4; i++) {
      await settled();
      acts[i]?.end();
    }

    expect(told()).to.deep.equal([[1, 2], [1], [2], [3]]);
    expect(await Promise.all(answers)).to.deep.equal(["it was 1", "done 2", "done 3"]);
  });
});
