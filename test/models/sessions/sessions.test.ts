import { expect } from "chai";
import { useApp } from "../../support/useApp.ts";

describe("the lease of a session", () => {
  const app = useApp();
  beforeEach(async () => {
    await acquire("a", "a turn", "its token");
  });

  const inAMinute = () => new Date(app.clock.now().getTime() + 60_000);
  const acquire = (key: string, holder: string, token: string) =>
    app.stores.sessions.acquire({ key, holder }, { token, until: inAMinute() });
  const isFree = () => acquire("a", "the next turn", "another token");

  it("is renewed and released only with its own token", async () => {
    const { sessions } = app.stores;
    await sessions.release("a", "another token");
    const renewed = [
      await sessions.renew("a", { token: "another token", until: inAMinute() }),
      await sessions.renew("a", { token: "its token", until: inAMinute() }),
    ];
    const before = await isFree();

    await sessions.release("a", "its token");

    expect(renewed).to.deep.equal([false, true]);
    expect([before, await isFree()]).to.deep.equal([false, true]);
  });

  it("is released at the end of its own turn, not at the end of another", async () => {
    const { sessions } = app.stores;
    await sessions.releaseTurn({ key: "a", holder: "an earlier turn" });
    const before = await isFree();

    await sessions.releaseTurn({ key: "a", holder: "a turn" });

    expect([before, await isFree()]).to.deep.equal([false, true]);
  });

  it("prevents the deletion of the session", async () => {
    const { sessions } = app.stores;
    await acquire("b", "a turn", "its token");
    await sessions.release("b", "its token");

    await sessions.deleteIdle(["a", "b"]);

    expect(await sessions.collection.native.distinct("_id")).to.deep.equal(["a"]);
    expect(await isFree()).to.equal(false);
  });
});
