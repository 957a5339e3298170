import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { answers, type ChannelServer, startChannelServer } from "../../../support/servers/channelServer.ts";
import { startRedis } from "../../../support/servers/servers.ts";
import { startWorker, type TestWorker } from "../../../support/worker.ts";

const API_TOKEN = "the-token-of-the-API";
const READ_ONLY = "a-token-that-only-reads";
const [TOWN, OFFICE] = ["town".padEnd(26, "0"), "office".padEnd(26, "0")];
const REFUSAL = answers(401, { id: "api.context.session_expired.app_error", message: "", status_code: 401 });

describe("channels over HTTP", () => {
  let server: ChannelServer;
  let app: TestApp;
  let worker: TestWorker | undefined;
  /** Whether the service of the channel accepts the credentials. */
  let accepts: boolean;
  const config = (url: string) => `{
    channels: { log: {}, mattermost: { apiUrl: "${url}", botToken: "s3cret" } },
    session: { main: { channel: "log", to: "ops" }, followDeliveries: true },
  }`;
  before(async () => {
    server = await startChannelServer((response, request) => {
      const post = answers(201, { id: "p".repeat(26), channel_id: TOWN });
      const account = answers(200, { id: "b".repeat(26), username: "signalbox" });
      const answer = request.path.endsWith("/users/me") ? account : post;
      return (accepts ? answer : REFUSAL)(response, request);
    });
  });
  after(() => server.close());
  beforeEach(async () => {
    accepts = true;
    server.script();
    app = await startApp({ config: config(server.url), apiToken: API_TOKEN, readOnlyToken: READ_ONLY });
  });
  afterEach(async () => {
    await worker?.close();
    worker = undefined;
    await app.close();
  });
  const call = (method: string, path: string, body?: object, token = API_TOKEN) =>
    app.call(method, path, body, { Authorization: `Bearer ${token}` });
  const until = (deliveryId: string, state: string) =>
    eventually(
      async () => (await app.stores.deliveries.find(deliveryId)).state === state,
      `the delivery to be ${state}`,
    );
  const posts = () => server.requests.filter(({ path }) => path.endsWith("/posts"));
  /** Adds a reply to a recipient of the channel. */
  const reply = async (to: string) => {
    const _id = randomUUID();
    await app.stores.deliveries.add({ _id, runId: null, channel: "mattermost", to, text: "Done.", fault: null });
    await app.queues.deliver({ deliveryId: _id, channel: "mattermost" });
    return _id;
  };
  const mattermost = async () => {
    const { channels } = (await call("GET", "/api/channels")).body;
    return channels.find(({ channel }: { channel: string }) => channel === "mattermost");
  };
  /** Stops the channel with one reply that waits for each recipient. */
  const stop = async () => {
    worker = await startWorker(app);
    accepts = false;
    const waiting = [await reply(TOWN), await reply(OFFICE)];
    await eventually(async () => {
      const stopped = await Promise.all(waiting.map((id) => app.stores.deliveries.find(id)));
      return stopped.every(({ channelStop }) => channelStop !== undefined);
    }, "the channel to be stopped");
    return waiting;
  };

  it("POST test: sends a text through the worker as a delivery, and leaves the reply target as it is", async () => {
    worker = await startWorker(app);

    const { status, body } = await call("POST", "/api/channels/mattermost/test", {
      to: ` ${TOWN} `,
      text: "All *well*",
    });

    expect(status).to.equal(202);
    expect(body).to.include({ channel: "mattermost", to: TOWN, eventType: "test", rule: null, state: "pending" });
    await until(body.deliveryId, "sent");
    const { deliveries } = (await call("GET", "/api/deliveries?channel=mattermost")).body;
    expect(deliveries.map((one: { deliveryId: string }) => one.deliveryId)).to.deep.equal([body.deliveryId]);
    expect(posts().map((post) => [post.body.channel_id, post.body.message])).to.deep.equal([[TOWN, "All *well*"]]);
    expect((await call("GET", "/api/sessions/main/reply-target")).body.replyTarget).to.deep.equal({
      channel: "log",
      to: "ops",
    });
  });

  it("POST test: sends to the recipient of the main session by default, and requires `to` on other channels", async () => {
    const sent = await call("POST", "/api/channels/log/test", {});
    const { status, body } = await call("POST", "/api/channels/mattermost/test", {});
    const blank = await call("POST", "/api/channels/log/test", { to: " ", text: "\n" });

    expect([sent.status, sent.body.to]).to.deep.equal([202, "ops"]);
    expect([status, body.code, body.errors[0].pointer]).to.deep.equal([400, "invalid_body", "/to"]);
    expect(body.detail).to.equal("to is required: replies of the main session do not go to mattermost.");
    expect([blank.status, blank.body.errors.map((one: { pointer: string }) => one.pointer)]).to.deep.equal([
      400,
      ["/to", "/text"],
    ]);
  });

  it("POST test: tries a stopped channel at once, and lets the waiting deliveries follow when it is sent", async () => {
    const waiting = await stop();
    const refused = await call("POST", "/api/channels/mattermost/test", { to: TOWN });
    await eventually(
      async () => (await app.stores.deliveries.find(refused.body.deliveryId)).channelStop !== undefined,
      "the test to be refused",
    );
    accepts = true;

    const { body } = await call("POST", "/api/channels/mattermost/test", { to: TOWN });

    for (const deliveryId of [body.deliveryId, ...waiting]) await until(deliveryId, "sent");
    expect(await mattermost()).to.include({ state: "ready", reason: null });
  });

  it("POST resume: tries the credentials of a stopped channel at once, as often as it is called", async () => {
    const waiting = await stop();
    const tried = posts().length;

    const vain = await call("POST", "/api/channels/mattermost/resume");
    await eventually(() => posts().length > tried, "the credentials to be tried");
    await eventually(async () => (await mattermost()).nextTryAt !== null, "the channel to be stopped again");
    accepts = true;
    const resumed = await call("POST", "/api/channels/mattermost/resume");

    expect([vain.status, resumed.status]).to.deep.equal([202, 202]);
    expect(resumed.body).to.include({ channel: "mattermost", pending: 2, state: "stopped", nextTryAt: null });
    for (const deliveryId of waiting) await until(deliveryId, "sent");
    const again = await call("POST", "/api/channels/mattermost/resume");
    expect([again.status, again.body.state, again.body.pending]).to.deep.equal([202, "ready", 0]);
  });

  it("POST check: returns whether the service accepts the credentials, and sends nothing", async () => {
    worker = await startWorker(app);

    const good = await call("POST", "/api/channels/mattermost/check");
    accepts = false;
    const bad = await call("POST", "/api/channels/mattermost/check");

    expect(good.status).to.equal(200);
    expect(good.body).to.deep.equal({ channel: "mattermost", ok: true, detail: "posts as @signalbox" });
    expect([bad.status, bad.body.ok]).to.deep.equal([200, false]);
    expect(bad.body.detail).to.include("401").and.not.include("s3cret");
    expect(posts()).to.deep.equal([]);
  });

  it("POST check: answers 503 when no worker runs, and leaves nothing for the next one", async () => {
    const { prefix } = app;
    const hurried = await startApp({ config: config(server.url), prefix, timings: { channelCheckMs: 100 } });
    const { status, body } = await hurried.call("POST", "/api/channels/mattermost/check");
    await hurried.close();
    worker = await startWorker(app);
    const later = await call("POST", "/api/channels/mattermost/check");

    expect([status, body.code]).to.deep.equal([503, "unavailable"]);
    expect(body.detail).to.equal(
      "No worker has answered within 0.1 s. Check that a worker runs, then send the request again.",
    );
    expect([later.status, server.requests.length]).to.deep.equal([200, 1]);
  });

  it("POST check: answers 503 while Redis is unavailable", async () => {
    const redis = await startRedis();
    const other = await startApp({ redis: redis.url, config: config(server.url) });
    try {
      await redis.stop("SIGKILL");

      const { status, body } = await other.call("POST", "/api/channels/mattermost/check");

      expect([status, body.code]).to.deep.equal([503, "unavailable"]);
      expect(body.detail).to.include("Redis cannot be reached");
    } finally {
      await other.close();
      await redis.remove();
    }
  });

  it("answers 404 for a channel that is not configured, and 403 with a token that only reads", async () => {
    const calls = [
      ["POST", "/api/channels/NAME/test", {}],
      ["POST", "/api/channels/NAME/resume", undefined],
      ["POST", "/api/channels/NAME/check", undefined],
      ["PUT", "/api/sessions/main/reply-target", { channel: "NAME", to: "x" }],
    ] as const;
    for (const [method, path, body] of calls) {
      const on = (channel: string, token?: string) =>
        call(method, path.replace("NAME", channel), body && { ...body, ...("channel" in body && { channel }) }, token);
      const missing = await on("telegram");
      const refused = await on("log", READ_ONLY);

      expect([path, missing.status, missing.body.code]).to.deep.equal([path, 404, "channel_not_found"]);
      expect(missing.body.detail).to.equal("The channel telegram is not configured: add channels.telegram.");
      expect([path, refused.status]).to.deep.equal([path, 403]);
    }
  });

  it("reads, sets and clears the reply target of the main session", async () => {
    const path = "/api/sessions/main/reply-target";
    const configured = { replyTarget: { channel: "log", to: "ops" }, source: "configuration" };
    const set = { replyTarget: { channel: "mattermost", to: TOWN }, source: "set" };

    expect((await call("GET", path)).body).to.deep.equal(configured);
    expect((await call("PUT", path, { channel: "mattermost", to: ` ${TOWN}\n` })).body).to.deep.equal(set);
    expect((await call("GET", path, undefined, READ_ONLY)).body).to.deep.equal(set);
    expect((await call("GET", "/api/channels")).body.route).to.deep.equal(set.replyTarget);
    expect((await call("DELETE", path)).body).to.deep.equal(configured);
    expect((await call("DELETE", path)).body).to.deep.equal(configured);
    const never = { channel: "mattermost", to: "some one" };
    const sent = await call("POST", "/api/channels/mattermost/test", { to: never.to });
    for (const answer of [await call("PUT", path, never), sent]) {
      expect([answer.status, answer.body.code, answer.body.errors?.[0].pointer]).to.deep.equal([
        ...[400, "invalid_body", "/to"],
      ]);
    }
    const long = await call("PUT", path, { channel: "log", to: "x".repeat(513) });
    expect([long.status, long.body.errors[0].pointer]).to.deep.equal([400, "/to"]);
    expect((await call("DELETE", path, undefined, READ_ONLY)).status).to.equal(403);
  });

  it("has no reply target without one in the configuration", async () => {
    const other = await startApp();
    const { body } = await other.call("GET", "/api/sessions/main/reply-target");
    await other.close();

    expect(body).to.deep.equal({ replyTarget: null, source: null });
  });

  it("records tests, resumes and changes of the reply target in the audit log", async () => {
    await call("POST", "/api/channels/log/test", { to: "night watch" });
    await call("POST", "/api/channels/log/test", {});
    await call("POST", "/api/channels/log/resume");
    await call("PUT", "/api/sessions/main/reply-target", { channel: "log", to: " night watch" });
    await call("DELETE", "/api/sessions/main/reply-target");

    const { entries } = (await call("GET", "/api/audit")).body;

    const acts = entries.map(({ action, target }: Record<string, string>) => `${action} ${target}`).toReversed();
    expect(acts).to.deep.equal([
      "channel.test log night watch",
      "channel.test log",
      "channel.resume log",
      "reply-target.set log night watch",
      "reply-target.clear main",
    ]);
  });
});
