import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { clearFailPoint, failWrites, UNKNOWN_OUTCOMES } from "../../support/servers/failPoints.ts";
import { useOwnMongod } from "../../support/servers/servers.ts";

describe("leases", () => {
  useOwnMongod();
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());
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

  const clear = ({ collection }: { collection: { deleteMany(query: object): Promise<unknown> } }) =>
    collection.deleteMany({});
});
