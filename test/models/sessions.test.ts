import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";

describe("the lock of a session", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
    await app.stores.sessions.claim("a", "a turn", "its token", inAMinute());
  });
  afterEach(() => app.close());

  const inAMinute = () => new Date(app.clock.now().getTime() + 60_000);
  const isFree = () => app.stores.sessions.claim("a", "the next turn", "another token", inAMinute());

  it("is given back, and kept, by its own token only", async () => {
    const { sessions } = app.stores;
    await sessions.releaseOwn("a", "another token");
    const renewed = [
      await sessions.renew("a", "another token", inAMinute()),
      await sessions.renew("a", "its token", inAMinute()),
    ];
    const before = await isFree();

    await sessions.releaseOwn("a", "its token");

    expect(renewed).to.deep.equal([false, true]);
    expect([before, await isFree()]).to.deep.equal([false, true]);
  });

  it("comes free at the end of its own turn, of several that end together, and of no other", async () => {
    const { sessions } = app.stores;
    await sessions.claim("b", "another turn", "t", inAMinute());
    await sessions.release([
      { key: "a", holder: "an earlier turn" },
      { key: "b", holder: "another turn" },
    ]);
    const before = [await isFree(), await sessions.claim("b", "the next turn", "u", inAMinute())];

    await sessions.release([{ key: "a", holder: "a turn" }]);

    expect(before).to.deep.equal([false, true]);
    expect(await isFree()).to.equal(true);
  });

  it("keeps the session from being forgotten", async () => {
    const { sessions } = app.stores;
    await sessions.make(["b"]);

    await sessions.deleteIdle(["a", "b"]);

    expect(await sessions.collection.distinct("_id")).to.deep.equal(["a"]);
    expect(await isFree()).to.equal(false);
  });
});
