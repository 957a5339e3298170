import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { LOST, loseNoMore, loseWrites } from "../../support/lostAnswers.ts";
import { useOwnMongod } from "../../support/servers.ts";

describe("what one at a time may take", () => {
  useOwnMongod();
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());
  afterEach(loseNoMore);

  const soon = () => new Date(Date.now() + 60_000);
  /** Each takes it for somebody of that name. */
  const kinds: [string, (name: string) => Promise<boolean>][] = [
    ["a session", (name) => app.stores.sessions.acquire({ key: "s", holder: name }, { token: name, until: soon() })],
    ["a lease", (name) => app.stores.leases.acquire("l", name, 60_000)],
    ["a mailbox", (name) => app.stores.gmailMailboxes.acquire("m@example.org", { token: name, holder: name }, 60_000)],
  ];
  for (const [kind, take] of kinds) {
    for (const [title, how] of LOST) {
      it(`is ${kind} for the one whose write ${title}, and for no other`, async () => {
        await Promise.all([app.stores.sessions, app.stores.leases, app.stores.gmailMailboxes].map(clear));
        await loseWrites(1, how);

        const first = await take("first");
        const second = await take("second");

        expect([first, second]).to.deep.equal([true, false]);
      });
    }
  }

  const clear = ({ collection }: { collection: { deleteMany(query: object): Promise<unknown> } }) =>
    collection.deleteMany({});
});
