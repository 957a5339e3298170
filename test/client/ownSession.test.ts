import { expect } from "chai";
import { type Client, createClient } from "../../src/client/client.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { acceptRun } from "../support/factories.ts";

const SESSION = "agent:7";

describe("signalbox/client in an agent run", () => {
  let app: TestApp;
  let client: Client;
  before(async () => {
    app = await startApp();
    await acceptRun(app, SESSION);
    client = createClient({ url: app.url });
  });
  beforeEach(() => {
    process.env.SIGNALBOX_SESSION = SESSION;
  });
  afterEach(() => {
    delete process.env.SIGNALBOX_SESSION;
  });
  after(async () => {
    await client.close();
    await app.close();
  });

  it("takes self for the session of the run, also with another token than that of the run", async () => {
    const created = await client.job("built").create({ name: "Build", returnTo: "self" });
    const put = await client.jobs.put("put", { returnTo: { sessionKey: "self", on: ["stale"] } });

    expect(created.returnTo).to.include({ sessionKey: SESSION });
    expect(put.returnTo)
      .to.include({ sessionKey: SESSION })
      .and.to.deep.include({ on: ["stale"] });
  });

  it("changes no other session, and leaves self to the service outside of a run", async () => {
    const removed = await client.job("built").create({ returnTo: null });
    const other = await client.jobs.put("put", { returnTo: "other" }).catch((error) => error);
    delete process.env.SIGNALBOX_SESSION;
    const self = await client.jobs.put("put", { returnTo: "self" }).catch((error) => error);

    expect(removed.returnTo).to.equal(null);
    expect(other.message).to.include("must name a session that exists");
    expect(self.message).to.include("self is for the token of a run");
  });
});
