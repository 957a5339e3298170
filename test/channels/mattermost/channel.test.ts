import { expect } from "chai";
import type { SendOutcome } from "../../../src/channels/channel.ts";
import { mattermostChannel } from "../../../src/channels/mattermost/channel.ts";
import { answers, type Behaviour, breaks, breaksWithin } from "../../support/servers/channelServer.ts";
import {
  type ChannelScript,
  describeChannel,
  describeOutcomes,
  KEY,
  type Outcome,
  send,
  TEXT,
} from "../describeChannel.ts";

const TOKEN = "mattermost-secret-token";

/** Returns an id in Mattermost's format: 26 letters and digits. */
const id = (name: string) => name.padEnd(26, "0");

const ROUTES: Readonly<Record<string, Behaviour>> = {
  "POST /api/v4/posts": answers(201, { id: id("post"), channel_id: id("town"), message: TEXT, pending_post_id: KEY }),
  "GET /api/v4/users/me": answers(200, { id: id("bot"), username: "signalbox" }),
  "GET /api/v4/users/username/anna.k": answers(200, { id: id("anna"), username: "anna.k" }),
  "POST /api/v4/channels/direct": answers(201, { id: id("direct"), type: "D" }),
  "GET /api/v4/teams/name/ops/channels/name/on-call": answers(200, { id: id("oncall"), type: "O" }),
};

/** An error response of Mattermost whose text contains secrets. */
const refuses = (status: number, errorId: string): Behaviour =>
  answers(status, { id: errorId, message: `${TEXT} ${TOKEN}`, detailed_error: TEXT, status_code: status });

let now: Date;
const mattermostAt = (apiUrl: string, maxPostLength: number) =>
  mattermostChannel({ apiUrl, botToken: TOKEN, maxPostLength }, { now: () => now });

const SCRIPT: ChannelScript = {
  title: "Mattermost channel",
  usual: (response, request) =>
    (ROUTES[`${request.method} ${request.path}`] ?? refuses(404, "api.context.404.app_error"))(response, request),
  channelAt: (apiUrl) => mattermostAt(apiUrl, 4_000),
  to: id("town"),
  secrets: [TOKEN],
  isMessage: ({ path }) => path === "/api/v4/posts",
  style: { dialect: "markdown", limit: 4_000, unit: "runes" },
  idempotentForMs: 30_000,
  invalidRecipients: ["", "town", "#town", id("town").toUpperCase(), "user:anna", "@..", "a/b/c", `${id("town")}:root`],
  invalidRecipientReason: /team\/channel/,
  failingChecks: [
    ["an invalid token", refuses(401, "api.context.session_expired.app_error"), /401 \(api.*credentials/],
    ["a server that is not Mattermost", answers(200, "<html>"), /answered 200/],
    ["an answer without a name", answers(200, { id: id("bot") }), /contains no user/],
  ],
};

describeChannel(SCRIPT, (fixture) => {
  const { server, channelAt } = fixture;
  beforeEach(() => {
    now = new Date("2026-11-21T12:00:00Z");
  });
  const requestLines = () => server.requests.map(({ method, path }) => `${method} ${path}`);

  it("posts the message with its key", async () => {
    const result = await send(fixture);

    expect(result).to.deep.equal({ kind: "sent", id: id("post") });
    const [{ method, path, headers, body } = expect.fail("nothing was sent")] = server.requests;
    expect({ method, path, body }).to.deep.equal({
      method: "POST",
      path: "/api/v4/posts",
      body: { channel_id: id("town"), message: TEXT, pending_post_id: KEY },
    });
    expect(headers.authorization).to.equal(`Bearer ${TOKEN}`);
    expect(headers["content-type"]).to.match(/^application\/json/);
  });

  it("accepts posts as long as the site allows", () => {
    expect(mattermostAt(server.url, 16_383).style).to.deep.equal({ dialect: "markdown", limit: 16_383, unit: "runes" });
  });

  it("accepts an API address with a slash at its end", async () => {
    const result = await send(fixture, {}, { channel: channelAt(`${server.url}/`) });

    expect(result.kind).to.equal("sent");
    expect(requestLines()).to.deep.equal(["POST /api/v4/posts"]);
  });

  const plain: [string, string, string][] = [
    ["marks in a line", "a *b* _c_ ~~d~~ `e` [f](g) |h|", "a \\*b\\* \\_c\\_ \\~\\~d\\~\\~ \\`e\\` \\[f](g) \\|h\\|"],
    ["backslashes", "C:\\Users \\* \\", "C:\\Users \\\\\\* \\\\"],
    ["tags and entities", "<b> 1 < 2 &amp; a & b", "&lt;b> 1 &lt; 2 &amp;amp; a & b"],
    ["marks at the start of a line", "# a\n> b\n- c\n + d\n1. e\n2) f", "\\# a\n\\> b\n\\- c\n \\+ d\n1\\. e\n2\\) f"],
    ["lines under a heading", "a\n===\nb\n---", "a\n&#61;==\nb\n\\---"],
    ["lines indented like code", "    a\n\tb\n   c", "&nbsp;   a\n&nbsp;b\n   c"],
    ["addresses", "**https://a_b.c/d_e*f** www.x_y.z/~u", "\\*\\*https://a_b.c/d_e*f** www.x_y.z/~u"],
  ];
  for (const [title, text, message] of plain) {
    it(`escapes plain text: ${title}`, async () => {
      await send(fixture, { text, plain: true });

      expect(server.requests[0]?.body.message).to.equal(message);
    });
  }

  it("sends plain text unescaped if escaping would make the post too long", async () => {
    const text = "*".repeat(60);

    await send(fixture, { text, plain: true }, { channel: mattermostAt(server.url, 120) });
    await send(fixture, { text, plain: true }, { channel: mattermostAt(server.url, 119) });

    expect(server.requests.map(({ body }) => body.message)).to.deep.equal(["\\*".repeat(60), text]);
  });

  const recipients: [string, string, string[]][] = [
    [id("town"), "town", []],
    [`user:${id("anna")}`, "direct", ["GET /api/v4/users/me", "POST /api/v4/channels/direct"]],
    [
      "@anna.k",
      "direct",
      ["GET /api/v4/users/username/anna.k", "GET /api/v4/users/me", "POST /api/v4/channels/direct"],
    ],
    ["ops/on-call", "oncall", ["GET /api/v4/teams/name/ops/channels/name/on-call"]],
  ];
  for (const [to, channel, lookups] of recipients) {
    it(`looks up the channel of ${to} once`, async () => {
      await send(fixture, { to });
      const result = await send(fixture, { to });

      expect(result.kind).to.equal("sent");
      expect(requestLines()).to.deep.equal([...lookups, "POST /api/v4/posts", "POST /api/v4/posts"]);
      expect(fixture.messages().map(({ body }) => body.channel_id)).to.deep.equal([id(channel), id(channel)]);
    });

    it(`posts into a thread of ${to}`, async () => {
      await send(fixture, { to: `${to}:${id("root")}` });

      expect(fixture.messages()[0]?.body).to.deep.equal({
        channel_id: id(channel),
        message: TEXT,
        root_id: id("root"),
        pending_post_id: KEY,
      });
    });
  }

  it("opens the direct channel of the bot and the user", async () => {
    await send(fixture, { to: "@anna.k" });

    const direct = server.requests.find(({ path }) => path === "/api/v4/channels/direct");
    expect(direct?.body).to.deep.equal([id("bot"), id("anna")]);
    expect(direct?.headers.authorization).to.equal(`Bearer ${TOKEN}`);
  });

  it("caches a channel for an hour and the bot's id without limit", async () => {
    await send(fixture, { to: `user:${id("anna")}` });
    now = new Date(now.getTime() + 60 * 60_000);
    server.script();
    await send(fixture, { to: `user:${id("anna")}` });

    expect(requestLines()).to.deep.equal(["POST /api/v4/channels/direct", "POST /api/v4/posts"]);
  });

  it("looks up a channel again after it could not be written to", async () => {
    await send(fixture, { to: "ops/on-call" });
    server.script(refuses(403, "api.context.permissions.app_error"));
    const refused = await send(fixture, { to: "ops/on-call" });
    const again = await send(fixture, { to: "ops/on-call" });

    expect([refused.kind, again.kind]).to.deep.equal(["gone", "sent"]);
    expect(requestLines()).to.deep.equal([
      "POST /api/v4/posts",
      "GET /api/v4/teams/name/ops/channels/name/on-call",
      "POST /api/v4/posts",
    ]);
  });

  const answersToPosts: Outcome[] = [
    ["401", refuses(401, "api.context.session_expired.app_error"), { kind: "authentication" }],
    ["401 that breaks off", breaksWithin(401), { kind: "authentication" }],
    ["403", refuses(403, "api.context.permissions.app_error"), { kind: "gone" }],
    ["404", refuses(404, "app.channel.get.existing.app_error"), { kind: "gone" }],
    ["400 for the channel", refuses(400, "api.context.invalid_param.app_error"), { kind: "gone" }],
    ["400 for an invalid channel id", refuses(400, "model.post.is_valid.channel_id.app_error"), { kind: "gone" }],
    [
      "400 for an archived channel",
      refuses(400, "api.post.create_post.can_not_post_to_deleted.error"),
      { kind: "gone" },
    ],
    ["400 for the thread", refuses(400, "api.post.create_post.root_id.app_error"), { kind: "gone" }],
    [
      "400 for a thread of another channel",
      refuses(400, "api.post.create_post.channel_root_id.app_error"),
      { kind: "gone" },
    ],
    ["400 for the length", refuses(400, "model.post.is_valid.message_length.app_error"), { kind: "content" }],
    ["400 of a plugin", refuses(400, `Post rejected by plugin. ${TEXT}`), { kind: "content" }],
    ["500", refuses(500, "app.post.save.app_error"), { kind: "transient" }],
    ["501", refuses(501, "api.license.app_error"), { kind: "transient" }],
    [
      "500 while an earlier attempt is pending",
      refuses(500, "api.post.deduplicate_create_post.pending"),
      { kind: "rate-limited", retryAfterMs: 1_000, scope: "recipient" },
    ],
    [
      "429",
      answers(429, "limit exceeded\n", {
        "Content-Type": "text/plain",
        "Retry-After": "3",
        "X-RateLimit-Limit": "10",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "8",
      }),
      { kind: "rate-limited", retryAfterMs: 3_000, scope: "channel" },
    ],
    [
      "429 with only the time of the reset",
      answers(429, "limit exceeded\n", { "X-RateLimit-Reset": "8" }),
      { kind: "rate-limited", retryAfterMs: 8_000, scope: "channel" },
    ],
    [
      "429 without a time",
      answers(429, "limit exceeded\n"),
      { kind: "rate-limited", retryAfterMs: null, scope: "channel" },
    ],
  ];
  describeOutcomes(
    fixture,
    answersToPosts.map(([title, behaviour, expected]) => [
      title,
      behaviour,
      expected,
      /^Mattermost answered \d{3}.*\.$/,
    ]),
  );

  it("includes the id of an error in the reason", async () => {
    server.script(refuses(403, "api.context.permissions.app_error"));

    expect(await send(fixture)).to.deep.equal({
      kind: "gone",
      reason: "Mattermost answered 403 (api.context.permissions.app_error): the bot is not allowed to write there.",
    });
  });

  const answersToLookups: [string, Behaviour, SendOutcome["kind"]][] = [
    ["404", refuses(404, "app.user.missing_account.const"), "gone"],
    ["400", refuses(400, "api.context.invalid_url_param.app_error"), "gone"],
    ["another 400", refuses(400, "api.user.app_error"), "gone"],
    ["403", refuses(403, "api.context.permissions.app_error"), "gone"],
    ["401", refuses(401, "api.context.session_expired.app_error"), "authentication"],
    ["429", answers(429, "limit exceeded\n"), "rate-limited"],
    ["500", refuses(500, "app.user.get.app_error"), "transient"],
    ["an answer without an id", answers(200, {}), "transient"],
    ["504, since it contained no message", answers(504), "transient"],
    ["a broken connection, since it contained no message", breaks, "transient"],
  ];
  for (const [title, behaviour, kind] of answersToLookups) {
    it(`returns ${kind} and caches nothing if the lookup of a recipient ends with ${title}`, async () => {
      server.script(behaviour);

      const result = await send(fixture, { to: "@anna.k" });
      expect(fixture.messages()).to.deep.equal([]);
      const again = await send(fixture, { to: "@anna.k" });

      expect([result.kind, again.kind]).to.deep.equal([kind, "sent"]);
    });
  }

  it("check returns the name of the token's owner", async () => {
    const found = await fixture.channel.check(new AbortController().signal);

    expect(found).to.deep.equal({ ok: true, detail: "posts as @signalbox" });
    expect(requestLines()).to.deep.equal(["GET /api/v4/users/me"]);
    expect(server.requests[0]?.headers.authorization).to.equal(`Bearer ${TOKEN}`);
  });
});
