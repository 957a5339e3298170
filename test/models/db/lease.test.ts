import { expect } from "chai";
import { RecordLease } from "../../../src/models/db/lease.ts";
import type { SessionDoc } from "../../../src/models/sessions/session.ts";
import { clearFailPoint, failWrites, UNKNOWN_OUTCOMES } from "../../support/servers/failPoints.ts";
import { useOwnMongod } from "../../support/servers/servers.ts";
import { useSharedApp } from "../../support/useApp.ts";

describe("leases", () => {
  const app = useOwnMongod(() => useSharedApp());
  afterEach(clearFailPoint);

  const soon = () => new Date(Date.now() + 60_000);
  /** Acquires a lease for a holder of that name. */
  const kinds: [string, (name: string) => Promise<boolean>][] = [
    [
      "the lease on a session",
      (name) => app.stores.sessions.acquire({ key: "s", holder: name }, { token: name, until: soon() }),
    ],
    ["the lease on a task", (name) => app.stores.leases.acquire("l", name, 60_000)],
    [
      "the lease on a mailbox",
      (name) => app.stores.gmailMailboxes.acquire("m@example.org", { token: name, holder: name }, 60_000),
    ],
  ];
  for (const [kind, acquire] of kinds) {
    for (const [title, how] of UNKNOWN_OUTCOMES) {
      it(`gives ${kind} to the holder whose write ${title}, and to no other`, async () => {
        await Promise.all([app.stores.sessions, app.stores.leases, app.stores.gmailMailboxes].map(clear));
        await failWrites(1, how);

        const first = await acquire("first");
        const second = await acquire("second");

        expect([first, second]).to.deep.equal([true, false]);
      });
    }
  }

  it("on a record are renewed, released and used only under their token", async () => {
    const { collection } = app.stores.sessions;
    const lease = new RecordLease<SessionDoc>(collection, "active");
    const now = new Date();
    const change = { $set: { lastUsedAt: now } };
    const held = (token: string, until: Date) => ({ holder: "h", token, until });
    await lease.acquireOrCreate("r", held("own", soon()), { now, change });

    const others = [
      await lease.acquireOrCreate("r", held("other", soon()), { now, change }),
      await lease.renew("r", { token: "other", until: soon() }),
      await lease.updateHeld("r", "other", { owner: "other" }),
    ];
    await lease.release("r", "other");
    const own = [
      await lease.acquireOrCreate("r", held("own", soon()), { now, change }),
      await lease.updateHeld("r", "own", { owner: "own" }),
      await lease.renew("r", { token: "own", until: now }),
    ];
    const expired = await lease.acquireOrCreate("r", held("other", soon()), { now, change });
    await lease.release("r", "other");

    expect(others).to.deep.equal([false, false, false]);
    expect(own).to.deep.equal([true, true, true]);
    expect(expired).to.equal(true);
    expect(await collection.findOne({ _id: "r" })).to.include({ owner: "own", active: null });
  });

  it("on a record end with the state in which it is worked on", async () => {
    const { collection } = app.stores.sessions;
    const lease = new RecordLease<SessionDoc>(collection, "active", { owner: "open" });
    const acquired = { holder: "h", token: "t", until: soon() };
    await lease.acquireOrCreate("s", acquired, { now: new Date(), change: { $set: { lastUsedAt: new Date() } } });
    await collection.updateOne({ _id: "s" }, { $set: { owner: "over" } });

    expect(await lease.renew("s", acquired)).to.equal(false);
  });

  const clear = ({ collection }: { collection: { deleteMany(query: object): Promise<unknown> } }) =>
    collection.deleteMany({});
});
