import { expect } from "chai";
import type { SendOutcome } from "../../../src/channels/channel.ts";
import { telegramChannel } from "../../../src/channels/telegram/channel.ts";
import { answers, type Behaviour } from "../../support/servers/channelServer.ts";
import { type ChannelScript, describeChannel, describeOutcomes, kindOf, send, TEXT } from "../describeChannel.ts";

/** The id of a private chat. */
const TO = "1234567890";
const TOKEN = "123456:telegram-secret-token";
const sends = (messageId: unknown = 77): Behaviour =>
  answers(200, { ok: true, result: { message_id: messageId, date: 1, chat: { id: 42, type: "private" }, text: TEXT } });

/** An error response of Telegram. */
const refuses = (status: number, description: unknown, parameters?: object): Behaviour =>
  answers(status, { ok: false, error_code: status, description, ...(parameters && { parameters }) });

const SCRIPT: ChannelScript = {
  title: "Telegram channel",
  usual: sends(),
  channelAt: (apiUrl) => telegramChannel({ apiUrl, botToken: TOKEN, inbound: "polling" }),
  to: TO,
  secrets: [TOKEN, "telegram-secret"],
  style: { dialect: "telegram-html", limit: 4_096, unit: "utf16" },
  idempotentForMs: 0,
  invalidRecipients: ["", "Anna", "+49 151 1234", "42:", "42:topic", "@a b", "../getMe"],
  failingChecks: [
    ["a revoked token", refuses(401, "Unauthorized"), /^Telegram answered 401: Unauthorized/],
    [
      "a malformed token",
      refuses(404, `Not Found: ${TOKEN}`),
      /^Telegram answered 404: the token does not belong to a bot/,
    ],
    ["a server that is not Telegram's", answers(200, "<html>"), /^Telegram answered 200, but/],
    ["an answer without a name", answers(200, { ok: true, result: {} }), /^Telegram answered 200, but/],
  ],
};

describeChannel(SCRIPT, (fixture) => {
  const { server, channelAt } = fixture;
  const chats = () => server.requests.map(({ body }) => body.chat_id);

  it("sends HTML without link previews", async () => {
    const result = await send(fixture);

    expect(result).to.deep.equal({ kind: "sent", id: "77" });
    const [{ method, path, headers, body } = expect.fail("nothing was sent")] = server.requests;
    expect({ method, path, body }).to.deep.equal({
      method: "POST",
      path: `/bot${TOKEN}/sendMessage`,
      body: { chat_id: TO, text: TEXT, parse_mode: "HTML", link_preview_options: { is_disabled: true } },
    });
    expect(headers["content-type"]).to.match(/^application\/json/);
    expect(headers).to.not.have.property("authorization");
  });

  it("sends plain text unchanged", async () => {
    await send(fixture, { text: "a < b & <b>c</b>", plain: true });

    expect(server.requests[0]?.body).to.deep.equal({
      chat_id: TO,
      text: "a < b & <b>c</b>",
      link_preview_options: { is_disabled: true },
    });
  });

  it("accepts an API address with a path and a proxy's password", async () => {
    const channel = channelAt(`${server.url.replace("//", "//me:p%40ss@")}/telegram/`);

    expect(await send(fixture, {}, { channel })).to.include({ kind: "sent" });
    expect(server.requests[0]?.path).to.equal(`/telegram/bot${TOKEN}/sendMessage`);
    expect(server.requests[0]?.headers.authorization).to.equal(`Basic ${btoa("me:p@ss")}`);
  });

  const recipients: [string, object][] = [
    ["42", { chat_id: "42" }],
    [" -1001234567890 ", { chat_id: "-1001234567890" }],
    ["@the_channel", { chat_id: "@the_channel" }],
    ["-1001234567890:7", { chat_id: "-1001234567890", message_thread_id: 7 }],
    ["@the_group:7", { chat_id: "@the_group", message_thread_id: 7 }],
  ];
  for (const [to, expected] of recipients) {
    it(`sends to ${to}`, async () => {
      expect(await send(fixture, { to })).to.include({ kind: "sent" });
      expect(server.requests[0]?.body).to.include(expected);
    });
  }

  it("follows a group that became a supergroup and remembers its new id", async () => {
    const moves = refuses(400, "Bad Request: group chat was upgraded to a supergroup chat", {
      migrate_to_chat_id: -1009876543210,
    });
    fixture.script(moves, sends(78), sends(79));

    expect(await send(fixture, { to: "-55:7" })).to.deep.equal({ kind: "sent", id: "78" });
    expect(await send(fixture, { to: "-55" })).to.deep.equal({ kind: "sent", id: "79" });

    expect(chats()).to.deep.equal(["-55", "-1009876543210", "-1009876543210"]);
    expect(server.requests[1]?.body).to.include({ text: TEXT, message_thread_id: 7 });
  });

  it("follows a group only once", async () => {
    const moves = refuses(400, "Bad Request: upgraded", { migrate_to_chat_id: -100 });
    fixture.script(moves, moves);

    expect(await send(fixture, { to: "-55" })).to.include({ kind: "gone" });
    expect(chats()).to.deep.equal(["-55", "-100"]);
  });

  it("returns the result of the message to the new id of a group", async () => {
    fixture.script(refuses(400, "upgraded", { migrate_to_chat_id: -100 }), refuses(403, "Forbidden: bot was kicked"));

    expect(await send(fixture, { to: "-55" })).to.include({ kind: "gone" });
  });

  const slow = "Too Many Requests: retry after 14";
  const limits: [string, string, Behaviour, object][] = [
    ["a chat", "42", refuses(429, slow, { retry_after: 14 }), { retryAfterMs: 14_000, scope: "channel" }],
    ["a group", "-100123", refuses(429, slow, { retry_after: 14 }), { retryAfterMs: 14_000, scope: "recipient" }],
    ["a named channel", "@name", refuses(429, slow, { retry_after: 14 }), { retryAfterMs: 14_000, scope: "recipient" }],
    [
      "a limit in the header",
      "42",
      answers(429, { ok: false }, { "Retry-After": "3" }),
      { retryAfterMs: 3_000, scope: "channel" },
    ],
    ["a limit without a time", "42", refuses(429, slow), { retryAfterMs: null, scope: "channel" }],
  ];
  for (const [title, to, behaviour, expected] of limits) {
    it(`returns rate-limited with its scope and delay: ${title}`, async () => {
      fixture.script(behaviour);

      expect(await send(fixture, { to })).to.include({ kind: "rate-limited", ...expected });
    });
  }

  const refusals: [number, string, SendOutcome["kind"]][] = [
    [400, "Bad Request: chat not found", "gone"],
    [400, "Bad Request: private chat not found", "gone"],
    [400, "Bad Request: user not found", "gone"],
    [400, "Bad Request: message thread not found", "gone"],
    [400, "Bad Request: chat_id is empty", "gone"],
    [400, "Bad Request: PEER_ID_INVALID", "gone"],
    [400, "Bad Request: TOPIC_CLOSED", "gone"],
    [400, "Bad Request: CHAT_WRITE_FORBIDDEN", "gone"],
    [400, "Bad Request: USER_BANNED_IN_CHANNEL", "gone"],
    [400, "Bad Request: not enough rights to send text messages to the chat", "gone"],
    [400, "Bad Request: need administrator rights in the channel chat", "gone"],
    [400, "Bad Request: group chat was upgraded to a supergroup chat", "gone"],
    [403, "Forbidden: bot was blocked by the user", "gone"],
    [403, "Forbidden: user is deactivated", "gone"],
    [403, "Forbidden: bot was kicked from the supergroup chat", "gone"],
    [403, "Forbidden: bot is not a member of the channel chat", "gone"],
    [403, "Forbidden: the group chat was deleted", "gone"],
    [403, "Forbidden: bot can't initiate conversation with a user", "gone"],
    [400, 'Bad Request: can\'t parse entities: Unsupported start tag "chat_id" at byte offset 0', "content"],
    [400, "Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\"", "content"],
    [400, "Bad Request: message is too long", "content"],
    [400, "Bad Request: message text is empty", "content"],
    [400, "Bad Request: strings must be encoded in UTF-8", "content"],
    [400, "Bad Request: ENTITY_MENTION_USER_INVALID", "content"],
    [400, "Bad Request: can't parse entities: a link to a chat not found", "content"],
    [400, "Bad Request: a word of the message was not found", "content"],
    [400, "Bad Request: SOMETHING_NEW", "content"],
    [401, "Unauthorized", "authentication"],
    [404, "Not Found", "authentication"],
    [413, "Request Entity Too Large", "content"],
    [409, "Conflict", "transient"],
    [500, "Internal Server Error", "transient"],
    [502, "Bad Gateway", "transient"],
  ];
  describeOutcomes(
    fixture,
    refusals.map(([status, description, kind]) => {
      const reason = description.replace(/"[^"]*"/g, '"…"');
      return [`${status} "${description}"`, refuses(status, description), { kind }, reason];
    }),
  );

  const quotingDescriptions: [string, unknown][] = [
    ["quotes the text", `Bad Request: can't parse entities in ${TEXT}`],
    ["quotes a tag of the text", 'Bad Request: Unsupported start tag "the *secret* text" at byte offset 5'],
    ["quotes the token", `Not Found: /bot${TOKEN}/sendMessage`],
    ["is no text", { toString: 1 }],
    ["is missing", undefined],
  ];
  for (const [title, description] of quotingDescriptions) {
    for (const status of [400, 401, 403, 404, 429, 500]) {
      it(`omits the description of a ${status} if it ${title}`, async () => {
        fixture.script(refuses(status, description));

        expect(kindOf(await send(fixture)).reason).to.match(new RegExp(`^Telegram answered ${status}`));
      });
    }
  }

  for (const messageId of [undefined, null, "77", 1.5]) {
    it(`returns ambiguous for ${JSON.stringify(messageId)} as the id of a message`, async () => {
      fixture.script(answers(200, { ok: true, result: { message_id: messageId } }));

      expect((await send(fixture)).kind).to.equal("ambiguous");
    });
  }

  it("check returns the bot's name and sends no message", async () => {
    fixture.script(answers(200, { ok: true, result: { id: 1, is_bot: true, username: "signalbox_bot" } }));

    const found = await fixture.channel.check(new AbortController().signal);

    const without = "without buttons and replies, because channels.telegram.allowFrom is not set";
    expect(found).to.deep.equal({ ok: true, detail: `sends as @signalbox_bot; ${without}` });
    const [{ method, path, text } = expect.fail("nothing was asked")] = server.requests;
    expect({ method, path, text }).to.deep.equal({ method: "GET", path: `/bot${TOKEN}/getMe`, text: "" });
  });

  it("says in its check whether people can answer", async () => {
    const channel = telegramChannel({ apiUrl: server.url, botToken: TOKEN, inbound: "polling", allowFrom: ["7", "8"] });
    const bot = answers(200, { ok: true, result: { id: 1, username: "signalbox_bot" } });
    const webhook = (url: string) => answers(200, { ok: true, result: { url } });
    const signal = AbortSignal.timeout(60_000);

    server.script(bot, webhook(""), bot, webhook("https://example.com/hook"));
    const [ready, taken] = [await channel.check(signal), await channel.check(signal)];

    expect(ready).to.deep.equal({ ok: true, detail: "sends as @signalbox_bot; with buttons and replies for 2 people" });
    expect(taken.ok).to.equal(false);
    expect(taken.detail).to.include("a webhook is set for this bot. Call deleteWebhook");
  });
});
