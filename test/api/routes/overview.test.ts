import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Channel } from "../../../src/client/client.ts";
import { startApp } from "../../support/app.ts";
import { useApp } from "../../support/useApp.ts";

const HOOK_TOKEN = "a-hook-token-of-length";
const API_TOKEN = "the-token-of-the-API";
const CONFIG = `{
  hooks: { enabled: true, token: "${HOOK_TOKEN}", presets: ["gmail"], gmail: { account: "ada@example.org" },
           mappings: [{ match: { path: "ci" }, instructions: "Be brief." }] },
  channels: { log: {}, telegram: { botToken: "t" } },
  session: { main: { channel: "log", to: "ops" } },
}`;

const READY = { state: "ready", stoppedSince: null, reason: null, nextTryAt: null };

describe("overview of the gateway", () => {
  const app = useApp({ config: CONFIG, apiToken: API_TOKEN });
  const get = async (path: string, token = API_TOKEN) =>
    app.call("GET", path, undefined, { Authorization: `Bearer ${token}` });
  const post = (path: string, body: object) => app.call("POST", path, body, { Authorization: `Bearer ${HOOK_TOKEN}` });

  it("shows the request of a run and the agent's prompt, but not to the hook token", async () => {
    const agent = (await post("/hooks/agent", { message: "Look at it.", timeoutSeconds: 5 })).body.runId;
    const mapped = (await post("/hooks/ci", { build: { id: 7 } })).body.runId;

    const answer = await get(`/api/runs/${agent}/request`);
    const came = await get(`/api/runs/${mapped}/request`);
    const refused = await get(`/api/runs/${agent}/request`, HOOK_TOKEN);
    const unwatched = await get(`/api/runs/${agent}/events`, HOOK_TOKEN);
    const nobody = await get("/api/runs/nobody/request");

    expect(answer.body.request).to.include({
      message: "Look at it.",
      timeoutSeconds: 5,
      channel: "last",
      deliver: true,
    });
    expect(answer.body.call).to.equal(null);
    expect(came.body).to.deep.equal({
      request: null,
      call: { mapping: "ci", path: "ci", payload: { build: { id: 7 } } },
    });
    expect([refused.status, unwatched.status, nobody.status, nobody.body.code]).to.deep.equal([
      401,
      401,
      404,
      "run_not_found",
    ]);
  });

  it("lists the sessions, most recently used first, in pages", async () => {
    const { sessions } = app.stores;
    for (const key of ["old", "middle", "new"]) {
      const until = new Date(app.clock.now().getTime() + 60_000);
      await sessions.acquire({ key, holder: key }, { token: randomUUID(), until });
      app.clock.advance(1_000);
    }
    await sessions.releaseTurn({ key: "new", holder: "new" });

    const first = (await get("/api/sessions?limit=2")).body;
    const second = (await get(`/api/sessions?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`)).body;

    const keysOf = (body: { sessions: { sessionKey: string; busy: boolean }[] }) =>
      body.sessions.map(({ sessionKey, busy }) => [sessionKey, busy]);
    expect(keysOf(first)).to.deep.equal([
      ["new", false],
      ["middle", true],
    ]);
    expect([keysOf(second), second.nextCursor]).to.deep.equal([[["old", true]], null]);
  });

  it("lists the waiting events of the main session, oldest first, with their number", async () => {
    for (const text of ["one", "two", "three"]) await post("/hooks/wake", { text, mode: "next-heartbeat" });

    const { events, waiting } = (await get("/api/sessions/main/events?limit=2")).body;

    expect(events.map(({ text }: { text: string }) => text)).to.deep.equal(["one", "two"]);
    expect(events[0]).to.include.keys("eventId", "source", "createdAt");
    expect(waiting).to.equal(3);
  });

  it("removes an event from the main session's queue, once", async () => {
    for (const text of ["one", "two"]) await post("/hooks/wake", { text, mode: "next-heartbeat" });
    const { events } = (await get("/api/sessions/main/events")).body;
    const bearer = { Authorization: `Bearer ${API_TOKEN}` };
    const remove = () => app.call("DELETE", `/api/sessions/main/events/${events[0].eventId}`, undefined, bearer);

    const [first, second] = [await remove(), await remove()];

    expect([first.status, first.body]).to.deep.equal([200, { ok: true }]);
    expect([second.status, second.body.code]).to.deep.equal([404, "event_not_found"]);
    const left = (await get("/api/sessions/main/events")).body;
    expect(left.events.map(({ text }: { text: string }) => text)).to.deep.equal(["two"]);
  });

  it("shows the state of each channel, and the reply target of the main session", async () => {
    const { deliveries } = app.stores;
    const add = (channel: string, fault: string | null) =>
      deliveries.add({ _id: randomUUID(), runId: null, channel, to: "x", text: "x", fault });
    await add("telegram", null);
    await add("telegram", "The chat is gone.");
    app.clock.advance(1_000);
    await add("telegram", "The chat was not found.");
    await add("slack", "The channel slack is not configured: add channels.slack.");

    const { channels, route } = (await get("/api/channels")).body;

    const none = { pending: 0, failed: 0, lastSentAt: null, lastFailure: null, ...READY };
    expect(channels).to.deep.equal([
      { channel: "log", configured: true, ...none },
      {
        channel: "slack",
        configured: false,
        ...none,
        failed: 1,
        lastFailure: "The channel slack is not configured: add channels.slack.",
      },
      { channel: "telegram", configured: true, ...none, pending: 1, failed: 2, lastFailure: "The chat was not found." },
    ]);
    expect(route).to.deep.equal({ channel: "log", to: "ops" });
  });

  it("shows since when and why a channel is stopped, and its next try, until the deliveries that wait for it have ended", async () => {
    const { deliveries } = app.stores;
    const [first, second] = [randomUUID(), randomUUID()];
    const since = app.clock.now();
    const at = (ms: number) => new Date(since.getTime() + ms);
    const stop = async (_id: string, to: string, notBefore: Date, channelStop: { since: Date; reason: string }) => {
      await deliveries.add({ _id, runId: null, channel: "telegram", to, text: "x", fault: null });
      await deliveries.acquire(_id, "t", at(60_000));
      await deliveries.retryLater(_id, "t", notBefore, { reason: channelStop.reason, channelStop });
    };
    const telegram = async () => {
      const { channels } = (await get("/api/channels")).body;
      const { state, stoppedSince, reason, nextTryAt } = channels.find((one: Channel) => one.channel === "telegram");
      return { state, stoppedSince, reason, nextTryAt };
    };
    const before = await telegram();

    await stop(first, "ada", at(500_000), { since, reason: "Later." });
    await stop(second, "bob", at(300_000), { since: at(1_000), reason: "401 Unauthorized" });
    const stopped = await telegram();
    await deliveries.cancel(second);
    const later = await telegram();
    await deliveries.retry(first, null);
    const retried = await telegram();

    expect(before).to.deep.equal(READY);
    const ofBoth = { state: "stopped", stoppedSince: since.toISOString() };
    expect(stopped).to.deep.equal({ ...ofBoth, reason: "401 Unauthorized", nextTryAt: at(300_000).toISOString() });
    expect(later).to.deep.equal({ ...ofBoth, reason: "Later.", nextTryAt: at(500_000).toISOString() });
    expect(retried).to.deep.equal(READY);
  });

  it("shows the state of the mailbox listener, or that none is configured", async () => {
    const other = await startApp();

    const { gmail } = (await get("/api/gmail")).body;
    const none = await other.call("GET", "/api/gmail");

    expect(gmail).to.include({ ok: false, account: "ada@example.org", listener: null, lastMailAt: null });
    expect(gmail.problems[0]).to.match(/^No process has listened to ada@example\.org yet: start/);
    expect(none.body).to.deep.equal({ gmail: null });
    await other.close();
  });
});
