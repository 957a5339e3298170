import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";

const TOKEN = "a-token-of-some-length";
const READ = "a-token-that-may-read";
const CONFIG =
  '{ channels: { log: {} }, outbound: { allowedHosts: ["a.example"], secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" } }';

describe("GET /queues", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp({ apiToken: TOKEN, readOnlyToken: READ, config: CONFIG });
  });
  afterEach(() => app.close());
  const cookieOf = async (token: string) => {
    const { headers } = await app.call("POST", "/session", { token });
    return { Cookie: headers.get("Set-Cookie")?.split(";")[0] as string };
  };

  it("shows operators each queue and its entries", async () => {
    await app.queues.deliver({ deliveryId: "d-1", channel: "log" });
    const headers = await cookieOf(TOKEN);

    const page = await app.call("GET", "/queues", undefined, headers);
    const list = await app.call(
      "GET",
      "/queues/api/queues?activeQueue=delivery-log&status=waiting",
      undefined,
      headers,
    );
    const script = /src="(static\/js\/main[^"]+)"/.exec(page.body)?.[1];
    const file = await app.call("GET", `/queues/${script}`, undefined, headers);

    expect([page.status, file.status]).to.deep.equal([200, 200]);
    expect(page.headers.get("Content-Security-Policy")).to.match(/default-src 'none'; script-src 'self';/);
    const names = list.body.queues.map(({ name }: { name: string }) => name);
    expect(names).to.have.members([
      ...["agent-hook", "mapped-hook", "heartbeat", "notify", "retention", "channel-check"],
      ...["delivery-log", "delivery-webhook"],
    ]);
    const { jobs } = list.body.queues.find(({ name }: { name: string }) => name === "delivery-log");
    expect(jobs[0].data).to.deep.equal({ deliveryId: "d-1" });
  });

  it("leads back to the dashboard, and loads nothing from other hosts", async () => {
    const { body } = await app.call("GET", "/queues", undefined, await cookieOf(TOKEN));

    expect(body).to.match(/<a href="\/settings"[^>]*>Back to Signalbox<\/a><div id="root">/);
    expect(body).to.not.match(/(?:src|href)="(?:https?:)?\/\//);
  });

  it("shows no queue of deliveries if no channel is configured", async () => {
    const none = await startApp({ apiToken: TOKEN });
    try {
      const { headers: answered } = await none.call("POST", "/session", { token: TOKEN });
      const headers = { Cookie: answered.get("Set-Cookie")?.split(";")[0] as string };

      const { body } = await none.call("GET", "/queues/api/queues", undefined, headers);

      expect(body.queues.map(({ name }: { name: string }) => name)).to.have.members([
        ...["agent-hook", "mapped-hook", "heartbeat", "notify", "retention", "channel-check"],
      ]);
    } finally {
      await none.close();
    }
  });

  it("redirects browsers without a log-in to the log-in page, and rejects changes with the read-only token", async () => {
    const redirected = await fetch(`${app.url}/queues`, { redirect: "manual" });
    const unauthenticated = await app.call("PUT", "/queues/api/queues/pause");
    const reader = await cookieOf(READ);
    const read = await app.call("GET", "/queues", undefined, reader);
    const write = await app.call("PUT", "/queues/api/queues/pause", {}, reader);
    const foreign = await app.call(
      "PUT",
      "/queues/api/queues/pause",
      {},
      {
        ...(await cookieOf(TOKEN)),
        Origin: "https://evil.example",
      },
    );

    expect([redirected.status, redirected.headers.get("Location")]).to.deep.equal([302, "/login?to=%2Fqueues"]);
    expect([unauthenticated.status, read.status, write.status, foreign.status]).to.deep.equal([401, 200, 403, 403]);
  });

  it("does not reveal the version, address and machine of Redis", async () => {
    for (const headers of [await cookieOf(READ), await cookieOf(TOKEN)]) {
      for (const path of ["/queues/api/redis/stats", "/queues/api/redis/stats/", "/queues/API/Redis/Stats"]) {
        const { status, body } = await app.call("GET", path, undefined, headers);

        expect(status).to.be.oneOf([403, 404]);
        expect(JSON.stringify(body)).to.not.match(/version|port|memory|linux/i);
      }
    }
  });

  it("does not reveal the workers and their addresses", async () => {
    for (const token of [READ, TOKEN]) {
      const headers = await cookieOf(token);
      const list = await app.call("GET", "/queues/api/queues", undefined, headers);
      const workers = await app.call("GET", "/queues/api/queues/agent-hook/workers", undefined, headers);

      expect([list.status, workers.status]).to.deep.equal([200, 403]);
      expect(list.body.queues.map(({ hasWorkers }: { hasWorkers: unknown }) => hasWorkers)).to.not.include(true);
      expect(JSON.stringify([list.body, workers.body])).to.not.include("127.0.0.1");
    }
  });

  it("answers an unknown path with 404 and an invalid body with 400, without logging the body", async () => {
    const headers = await cookieOf(TOKEN);

    const unknown = await app.call("POST", "/queues/api/nothing", {}, headers);
    const broken = await app.call("PUT", "/queues/api/queues/pause", "s3cret", headers);

    expect([unknown.status, unknown.body.code]).to.deep.equal([404, "not_found"]);
    expect([broken.status, broken.body.code]).to.deep.equal([400, "invalid_json"]);
    expect(JSON.stringify(app.log)).to.not.include("s3cret");
  });
});
