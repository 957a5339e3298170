import { expect } from "chai";
import { mongo } from "mongoose";
import type { Documents } from "../../../src/models/db/documents.ts";
import { mapMongoErrors } from "../../../src/models/db/mongoErrors.ts";
import { readPage } from "../../../src/models/db/page.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { eventually } from "../../support/eventually.ts";

const AT_ONCE = 16;
const MANY = 100;
const NEWEST = { filter: {}, sort: { _id: -1 } } as const;
const ONE_ROW = { bytesOf: () => 1 };

/** The rows of a cursor, which arrive or fail on demand. */
function heldCursor() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {}); // Also for a cursor that is never read.
  const held = {
    isBegun: false,
    release: resolve,
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

/** A collection of a database whose stream is the given one. */
const inDatabase = (db: object) => (held: ReturnType<typeof heldCursor>) =>
  ({
    native: { db },
    read: mapMongoErrors,
    stream() {
      made++;
      return held;
    },
  }) as unknown as Documents<{ row: number }>;
const withStream = inDatabase({});

describe("readPage", () => {
  it("reads at most sixteen pages at a time, so that connections stay free, and the others in turn", async () => {
    const cursors = Array.from({ length: MANY }, heldCursor);
    const pages = cursors.map((held) => readPage(withStream(held), NEWEST, ONE_ROW));
    const begun = () => cursors.filter(({ isBegun }) => isBegun).length;
    const mostBegun: number[] = [];

    for (const [i, held] of cursors.entries()) {
      await eventually(() => begun() === Math.min(MANY, AT_ONCE + i), "the next to begin");
      mostBegun.push(begun() - i);
      held.release();
    }

    expect(Math.max(...mostBegun)).to.equal(AT_ONCE);
    expect(await Promise.all(pages)).to.deep.equal(Array(MANY).fill({ rows: [{ row: 1 }], last: null }));
  });

  it("creates a cursor only once it is read, because the client keeps each unread cursor in memory", async () => {
    const before = made;
    const cursors = Array.from({ length: MANY }, heldCursor);
    const pages = Promise.allSettled(cursors.map((held) => readPage(withStream(held), NEWEST, ONE_ROW)));
    await eventually(() => cursors.filter(({ isBegun }) => isBegun).length === AT_ONCE, "the first to begin");

    for (const held of cursors) held.fail();
    await pages;

    expect(made - before).to.equal(AT_ONCE);
  });

  it("fails for all waiting pages at once while MongoDB is unavailable", async () => {
    const cursors = Array.from({ length: MANY }, heldCursor);
    const pages = Promise.allSettled(cursors.map((held) => readPage(withStream(held), NEWEST, ONE_ROW)));
    await eventually(() => cursors.filter(({ isBegun }) => isBegun).length === AT_ONCE, "the first to begin");

    for (const held of cursors.slice(0, AT_ONCE)) held.fail();
    const ends = await pages;
    const after = heldCursor();
    after.release();

    for (const end of ends) {
      expect(end.status).to.equal("rejected");
      expect((end as PromiseRejectedResult).reason)
        .to.be.instanceOf(AppError)
        .with.property("code", "unavailable");
    }
    expect(cursors.filter(({ isBegun }) => isBegun)).to.have.lengthOf(AT_ONCE);
    expect((await readPage(withStream(after), NEWEST, ONE_ROW)).rows).to.deep.equal([{ row: 1 }]);
  });

  it("does not fail for pages of one database because another is unavailable", async () => {
    const cursors = Array.from({ length: AT_ONCE + 1 }, heldCursor);
    const pages = Promise.all(cursors.map((held) => readPage(withStream(held), NEWEST, ONE_ROW)));
    await eventually(() => cursors.filter(({ isBegun }) => isBegun).length === AT_ONCE, "the first to begin");
    const failing = heldCursor();

    failing.fail();
    const failed = await readPage(inDatabase({})(failing), NEWEST, ONE_ROW).catch((error: unknown) => error);
    for (const held of cursors) held.release();

    expect(failed).to.be.instanceOf(AppError).with.property("code", "unavailable");
    expect(await pages).to.deep.equal(cursors.map(() => ({ rows: [{ row: 1 }], last: null })));
  });
});
