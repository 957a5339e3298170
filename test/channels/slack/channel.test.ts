import { expect } from "chai";
import type { SendOutcome } from "../../../src/channels/channel.ts";
import { slackChannel } from "../../../src/channels/slack/channel.ts";
import { answers, type Behaviour, breaks } from "../../support/servers/channelServer.ts";
import {
  type ChannelScript,
  describeChannel,
  describeOutcomes,
  KEY,
  type Outcome,
  send,
  TEXT,
} from "../describeChannel.ts";

const TOKEN = "xoxb-slack-secret-token";
const POST = "/chat.postMessage";
const OPEN = "/conversations.open";

const ROUTES: Readonly<Record<string, Behaviour>> = {
  [POST]: answers(200, { ok: true, channel: "C024BE91L", ts: "1503435956.000247", message: { text: TEXT } }),
  [OPEN]: answers(200, { ok: true, channel: { id: "D069C7QFK" } }),
  "/auth.test": answers(200, { ok: true, user: "signalbox", team: "Example", url: "https://example.slack.com/" }),
};

/** A refusal of Slack, which has status 200; its text contains secrets. */
const refuses = (error: unknown, more: object = {}): Behaviour =>
  answers(200, { ok: false, error, response_metadata: { messages: [`${TEXT} ${TOKEN}`] }, ...more });

const SCRIPT: ChannelScript = {
  title: "Slack channel",
  usual: (response, request) => (ROUTES[request.path] ?? refuses("unknown_method"))(response, request),
  channelAt: (apiUrl) => slackChannel({ apiUrl, botToken: TOKEN }),
  to: "C024BE91L",
  secrets: [TOKEN],
  isMessage: ({ path }) => path === POST,
  style: { dialect: "slack", limit: 12_000, unit: "utf16" },
  idempotentForMs: 0,
  invalidRecipients: ["", "#", "C024BE91L:thread", "the channel", "C1:2:3.4"],
  failingChecks: [
    ["an invalid token", refuses("invalid_auth"), /^Slack answered 200 \(invalid_auth\)/],
    ["a server that is not Slack's", answers(404, "<html>"), /^Slack answered 404/],
    ["an answer without a name", answers(200, { ok: true }), /contains no bot/],
  ],
};

describeChannel(SCRIPT, (fixture) => {
  const { server, channelAt } = fixture;
  const paths = () => server.requests.map(({ path }) => path);

  it("sends Markdown with its key and disables unfurling", async () => {
    const result = await send(fixture);

    expect(result).to.deep.equal({ kind: "sent", id: "C024BE91L:1503435956.000247" });
    const [{ method, path, headers, body } = expect.fail("nothing was sent")] = server.requests;
    expect({ method, path, body }).to.deep.equal({
      method: "POST",
      path: POST,
      body: {
        channel: "C024BE91L",
        markdown_text: TEXT,
        metadata: { event_type: "signalbox", event_payload: { key: KEY } },
        unfurl_links: false,
        unfurl_media: false,
      },
    });
    expect(headers.authorization).to.equal(`Bearer ${TOKEN}`);
    expect(headers["content-type"]).to.equal("application/json; charset=utf-8");
  });

  it("sends plain text escaped and without fields that a workspace may refuse", async () => {
    await send(fixture, { text: "a < b && *c* <!channel> &amp;", plain: true });

    expect(server.requests[0]?.body).to.deep.equal({
      channel: "C024BE91L",
      text: "a &lt; b &amp;&amp; *c* &lt;!channel&gt; &amp;amp;",
      mrkdwn: false,
      parse: "none",
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  it("keeps each character of a plain text that entities would make too long", async () => {
    const text = "<!&>".repeat(3_000);

    await send(fixture, { text, plain: true });

    const sent: string = server.requests[0]?.body.text;
    expect(sent.length).to.be.at.most(40_000);
    expect(sent.replaceAll("\u200b", "")).to.equal(text);
    expect(sent).to.not.match(/<!|&>/);
  });

  it("accepts an API address with a slash at its end", async () => {
    expect(await send(fixture, {}, { channel: channelAt(`${server.url}/api/`) })).to.include({ kind: "content" });
    expect(paths()).to.deep.equal([`/api${POST}`]);
  });

  const recipients: [string, object][] = [
    ["C024BE91L", { channel: "C024BE91L" }],
    ["G012AC86C", { channel: "G012AC86C" }],
    [" D023BB3L2 ", { channel: "D023BB3L2" }],
    ["#general", { channel: "#general" }],
    ["C024BE91L:1503435956.000247", { channel: "C024BE91L", thread_ts: "1503435956.000247" }],
    ["#general:1503435956.000247", { channel: "#general", thread_ts: "1503435956.000247" }],
  ];
  for (const [to, expected] of recipients) {
    it(`sends to ${to}`, async () => {
      expect(await send(fixture, { to })).to.include({ kind: "sent" });
      expect(paths()).to.deep.equal([POST]);
      expect(server.requests[0]?.body).to.include(expected);
    });
  }

  for (const user of ["U0G9QF9C6", "W012A3CDE"]) {
    it(`opens a conversation with ${user} once and sends messages there`, async () => {
      await send(fixture, { to: user });
      await send(fixture, { to: `${user}:1503435956.000247` });

      expect(paths()).to.deep.equal([OPEN, POST, POST]);
      expect(server.requests[0]?.body).to.deep.equal({ users: user });
      expect(server.requests[0]?.headers.authorization).to.equal(`Bearer ${TOKEN}`);
      expect(server.requests[1]?.body).to.include({ channel: "D069C7QFK" }).and.not.have.property("thread_ts");
      expect(server.requests[2]?.body).to.include({ channel: "D069C7QFK", thread_ts: "1503435956.000247" });
    });
  }

  it("reopens a conversation after it was gone", async () => {
    fixture.script(ROUTES[OPEN] as Behaviour, refuses("channel_not_found"));

    expect(await send(fixture, { to: "U0G9QF9C6" })).to.include({ kind: "gone" });
    expect(await send(fixture, { to: "U0G9QF9C6" })).to.include({ kind: "sent" });

    expect(paths()).to.deep.equal([OPEN, POST, OPEN, POST]);
  });

  const unopened: [string, Behaviour, SendOutcome["kind"]][] = [
    ["an unknown user", refuses("user_not_found"), "gone"],
    ["a disabled user", refuses("user_disabled"), "gone"],
    ["another bot", refuses("cannot_dm_bot"), "gone"],
    ["a missing scope", refuses("missing_scope", { needed: "im:write" }), "gone"],
    ["an unknown code", refuses("something_new"), "gone"],
    ["an invalid token", refuses("invalid_auth"), "authentication"],
    ["a limit", refuses("ratelimited"), "rate-limited"],
    ["an error after which part of the request may have taken effect", refuses("fatal_error"), "transient"],
    ["503", answers(503), "transient"],
    ["504", answers(504), "transient"],
    ["a connection that breaks", breaks, "transient"],
    ["an answer without a channel", answers(200, { ok: true }), "transient"],
  ];
  for (const [title, behaviour, kind] of unopened) {
    it(`returns ${kind} and sends no message if the conversation cannot be opened: ${title}`, async () => {
      fixture.script(behaviour);

      expect((await send(fixture, { to: "U0G9QF9C6" })).kind).to.equal(kind);
      expect(paths()).to.deep.equal([OPEN]);
    });
  }

  const limits: [string, Behaviour, number | null][] = [
    ["429", answers(429, { ok: false, error: "ratelimited" }, { "Retry-After": "30" }), 30_000],
    ["ratelimited in a 200", answers(200, { ok: false, error: "ratelimited" }, { "Retry-After": "5" }), 5_000],
    ["rate_limited in a 200", refuses("rate_limited"), null],
    ["message_limit_exceeded", refuses("message_limit_exceeded"), null],
  ];
  describeOutcomes(
    fixture,
    limits.map(([title, behaviour, retryAfterMs]): Outcome => {
      const expected = { kind: "rate-limited", retryAfterMs, scope: "channel" } as const;
      return [title, behaviour, expected];
    }),
  );

  const refusals: Partial<Record<SendOutcome["kind"], string>> = {
    authentication: `invalid_auth not_authed account_inactive token_revoked token_expired missing_scope
      not_allowed_token_type team_access_not_granted org_login_required two_factor_setup_required accesslimited`,
    gone: `channel_not_found not_in_channel is_archived restricted_action restricted_action_read_only_channel
      restricted_action_thread_only_channel restricted_action_non_threadable_channel restricted_action_thread_locked
      messages_tab_disabled no_permission ekm_access_denied access_denied cannot_reply_to_message`,
    content: `msg_too_long msg_blocks_too_long no_text invalid_blocks invalid_blocks_format too_many_attachments
      invalid_arguments markdown_text_conflict metadata_too_large invalid_metadata_format something_new toString`,
    transient: "request_timeout service_unavailable team_added_to_org",
    ambiguous: "fatal_error internal_error",
  };
  describeOutcomes(
    fixture,
    Object.entries(refusals).flatMap(([kind, codes]) =>
      codes.split(/\s+/).map((code): Outcome => {
        const reason = new RegExp(`^Slack answered 200 \\(${code}\\)`);
        return [`${code} in a 200`, refuses(code), { kind: kind as SendOutcome["kind"] }, reason];
      }),
    ),
  );

  const others: [string, Behaviour, SendOutcome["kind"], RegExp][] = [
    ["a code in a 403", answers(403, { ok: false, error: "invalid_auth" }), "authentication", /403 \(invalid_auth\)/],
    ["an unknown code in a 401", answers(401, { ok: false, error: "new" }), "authentication", /401 \(new\)/],
    ["an unknown code in a 500", answers(500, { ok: false, error: "new" }), "transient", /500 \(new\)/],
    ["a code that contains secrets", refuses(`${TOKEN} ${TEXT}`), "content", /\(unknown_error\)/],
    ["a code that is not a string", refuses({ toString: 1 }), "content", /\(unknown_error\)/],
    [
      "a missing scope with its name",
      refuses("missing_scope", { needed: "chat:write" }),
      "authentication",
      /lacks a scope \(chat:write\)/,
    ],
    [
      "a missing scope with an invalid name",
      refuses("missing_scope", { needed: TEXT }),
      "authentication",
      /lacks a scope\.$/,
    ],
    ["an answer without ts", answers(200, { ok: true, channel: "C1" }), "ambiguous", /answered 200, but not/],
    ["an answer without a channel", answers(200, { ok: true, ts: "1.2" }), "ambiguous", /answered 200, but not/],
  ];
  describeOutcomes(
    fixture,
    others.map(([title, behaviour, kind, reason]) => [title, behaviour, { kind }, reason]),
  );

  it("check returns the bot's name and sends no message", async () => {
    const found = await fixture.channel.check(new AbortController().signal);

    expect(found).to.deep.equal({
      ok: true,
      detail:
        "posts as @signalbox in Example; without buttons and replies, because channels.slack.allowFrom is not set",
    });
    expect(paths()).to.deep.equal(["/auth.test"]);
    expect(server.requests[0]?.headers.authorization).to.equal(`Bearer ${TOKEN}`);
  });
});
