import { expect } from "chai";
import { mongo } from "mongoose";
import { readPage } from "../../../src/models/db/page.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { eventually } from "../../support/eventually.ts";

const AT_ONCE = 16;
const MANY = 100;
const inDatabase = () => ({ db: {} as mongo.Db });
const ANYWHERE = inDatabase();
const ONE_ROW = { bytesOf: () => 1 };

/** A cursor's rows, which come when they are let go, or fail then. */
function heldCursor() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {}); // also of one that nobody has begun to read
  const held = {
    isBegun: false,
    letGo: resolve,
    fail: () => reject(new mongo.MongoServerSelectionError("no primary", {} as never)),
    async *[Symbol.asyncIterator]() {
      held.isBegun = true;
      await promise;
      yield { row: 1 };
    },
  };
  return held;
}
let made = 0;
const asCursor = (held: ReturnType<typeof heldCursor>) => () => {
  made++;
  return held as unknown as mongo.FindCursor<{ row: number }>;
};

describe("pages that are read at the same time", () => {
  it("leave connections to all else: sixteen at a time, the others in their turn", async () => {
    const cursors = Array.from({ length: MANY }, heldCursor);
    const pages = cursors.map((held) => readPage(ANYWHERE, asCursor(held), ONE_ROW));
    const begun = () => cursors.filter(({ isBegun }) => isBegun).length;
    const mostBegun: number[] = [];

    for (const [i, held] of cursors.entries()) {
      await eventually(() => begun() === Math.min(MANY, AT_ONCE + i), "the next to begin");
      mostBegun.push(begun() - i);
      held.letGo();
    }

    expect(Math.max(...mostBegun)).to.equal(AT_ONCE);
    expect(await Promise.all(pages)).to.deep.equal(Array(MANY).fill({ rows: [{ row: 1 }], last: null }));
  });

  it("make a cursor only where it is read: the client remembers each until it has been", async () => {
    const before = made;
    const cursors = Array.from({ length: MANY }, heldCursor);
    const pages = Promise.allSettled(cursors.map((held) => readPage(ANYWHERE, asCursor(held), ONE_ROW)));
    await eventually(() => cursors.filter(({ isBegun }) => isBegun).length === AT_ONCE, "the first to begin");

    for (const held of cursors) held.fail();
    await pages;

    expect(made - before).to.equal(AT_ONCE);
  });

  it("fail together while MongoDB is away, and do not wait for it one after the other", async () => {
    const cursors = Array.from({ length: MANY }, heldCursor);
    const pages = Promise.allSettled(cursors.map((held) => readPage(ANYWHERE, asCursor(held), ONE_ROW)));
    await eventually(() => cursors.filter(({ isBegun }) => isBegun).length === AT_ONCE, "the first to begin");

    for (const held of cursors.slice(0, AT_ONCE)) held.fail();
    const ends = await pages;
    const after = heldCursor();
    after.letGo();

    for (const end of ends) {
      expect(end.status).to.equal("rejected");
      expect((end as PromiseRejectedResult).reason)
        .to.be.instanceOf(AppError)
        .with.property("code", "unavailable");
    }
    expect(cursors.filter(({ isBegun }) => isBegun)).to.have.lengthOf(AT_ONCE);
    expect((await readPage(ANYWHERE, asCursor(after), ONE_ROW)).rows).to.deep.equal([{ row: 1 }]);
  });

  it("readPage: pages that wait for one database do not fail because another is unavailable", async () => {
    const cursors = Array.from({ length: AT_ONCE + 1 }, heldCursor);
    const pages = Promise.all(cursors.map((held) => readPage(ANYWHERE, asCursor(held), ONE_ROW)));
    await eventually(() => cursors.filter(({ isBegun }) => isBegun).length === AT_ONCE, "the first to begin");
    const failing = heldCursor();

    failing.fail();
    const failed = await readPage(inDatabase(), asCursor(failing), ONE_ROW).catch((error: unknown) => error);
    for (const held of cursors) held.letGo();

    expect(failed).to.be.instanceOf(AppError).with.property("code", "unavailable");
    expect(await pages).to.deep.equal(cursors.map(() => ({ rows: [{ row: 1 }], last: null })));
  });
});
