import { expect } from "chai";
import type { SendOutcome } from "../../../src/channels/channel.ts";
import { discordChannel } from "../../../src/channels/discord/channel.ts";
import { answers, type Behaviour, breaks } from "../../support/servers/channelServer.ts";
import { type ChannelScript, describeChannel, describeOutcomes, type Outcome, send, TEXT } from "../describeChannel.ts";

const TOKEN = "discord-secret-token";
const CHANNEL = "1199999999999999999";
const USER = "80351110224678912";
const DIRECT = "319674150115610528";
const OPEN = "POST /users/@me/channels";
const POST = `POST /channels/${CHANNEL}/messages`;
const TO_USER = `POST /channels/${DIRECT}/messages`;
const posted = answers(200, { id: "1300000000000000001", channel_id: CHANNEL, content: TEXT, nonce: "n" });

const ROUTES: Readonly<Record<string, Behaviour>> = {
  [OPEN]: answers(200, { id: DIRECT, type: 1, recipients: [{ id: USER }] }),
  [POST]: posted,
  [TO_USER]: posted,
  "GET /users/@me": answers(200, { id: "5", username: "signalbox", bot: true }),
};

/** An error response of Discord whose text contains secrets. */
const refuses = (status: number, code: unknown, more: object = {}, headers = {}): Behaviour =>
  answers(status, { code, message: `${TEXT} ${TOKEN}`, errors: { content: { _errors: [TEXT] } }, ...more }, headers);

const SCRIPT: ChannelScript = {
  title: "Discord channel",
  usual: (response, request) => (ROUTES[`${request.method} ${request.path}`] ?? refuses(404, 0))(response, request),
  channelAt: (apiUrl) => discordChannel({ apiUrl, botToken: TOKEN }),
  to: CHANNEL,
  secrets: [TOKEN],
  isMessage: ({ path }) => path.endsWith("/messages"),
  style: { dialect: "discord", limit: 2_000, unit: "utf16" },
  idempotentForMs: 120_000,
  invalidRecipients: ["", "general", "#general", "@anna", "user:", "user:anna", "12", "1/../2", `${CHANNEL}:1`],
  failingChecks: [
    ["an invalid token", refuses(401, 0), /^Discord answered 401: the credentials/],
    ["a server that is not Discord's", answers(404, "<html>"), /^Discord answered 404/],
    ["an answer without a name", answers(200, { id: "5" }), /contains no user/],
  ],
};

describeChannel(SCRIPT, (fixture) => {
  const { server, channelAt } = fixture;
  const requestLines = () => server.requests.map(({ method, path }) => `${method} ${path}`);

  it("sends the message with an enforced nonce and without mentions", async () => {
    const result = await send(fixture);

    expect(result).to.deep.equal({ kind: "sent", id: "1300000000000000001" });
    const [{ method, path, headers, body } = expect.fail("nothing was sent")] = server.requests;
    expect({ method, path, body }).to.deep.equal({
      method: "POST",
      path: `/channels/${CHANNEL}/messages`,
      body: {
        content: TEXT,
        nonce: "UW_M0RlAmnfo2li4EPVYEqKWK",
        enforce_nonce: true,
        allowed_mentions: { parse: [] },
        flags: 4,
      },
    });
    expect(headers.authorization).to.equal(`Bot ${TOKEN}`);
    expect(headers["user-agent"]).to.match(/^DiscordBot \(https:\/\/\S+, \d+\.\d+\.\d+\)$/);
    expect(headers["content-type"]).to.match(/^application\/json/);
  });

  it("uses the same nonce for each attempt and another one for each part", async () => {
    for (const key of ["a-0", "a-0", "a-1", "k".repeat(64)]) await send(fixture, { key });

    const nonces: string[] = server.requests.map(({ body }) => body.nonce);
    expect(new Set(nonces)).to.have.property("size", 3);
    expect(nonces[0]).to.equal(nonces[1]);
    for (const nonce of nonces) expect(nonce).to.match(/^[\w-]{25}$/);
  });

  const plain: [string, string, string][] = [
    ["marks in a line", "a *b* _c_ ~~d~~ `e` ||f||", "a \\*b\\* \\_c\\_ \\~\\~d\\~\\~ \\`e\\` \\|\\|f\\|\\|"],
    ["links, mentions and emoji", "[a](b) <@1> <:c:2> @everyone a@b.c", "\\[a](b) \\<@1> \\<:c:2> \\@everyone a@b.c"],
    ["backslashes", "C:\\Users \\*", "C:\\\\Users \\\\\\*"],
    ["headings, quotes and lists", "# a\n> b\n- c\n+ d\n-# e", "\\# a\n\\> b\n\\- c\n\\+ d\n\\-# e"],
    ["numbered lists, indented or not", "1. a\n  2) b\n3.5", "1\\. a\n  2\\) b\n3\\.5"],
    ["blocks of code", "```js\na_b\n```", "\\`\\`\\`js\na\\_b\n\\`\\`\\`"],
    ["addresses", "see https://a.example/b_c_d*e (f_g)", "see https://a.example/b_c_d*e (f\\_g)"],
    ["text without marks", "Grüße, 5 > 3 & 2!", "Grüße, 5 > 3 & 2!"],
    ["text that escaping would make too long", "*".repeat(1_001), "*".repeat(1_001)],
    ["escaped text of the maximum length", "*".repeat(1_000), "\\*".repeat(1_000)],
  ];
  for (const [title, text, expected] of plain) {
    it(`escapes plain text: ${title}`, async () => {
      expect(await send(fixture, { text, plain: true })).to.include({ kind: "sent" });
      expect(server.requests[0]?.body.content).to.equal(expected);
    });
  }

  it("accepts an API address with a slash at its end", async () => {
    expect(await send(fixture, {}, { channel: channelAt(`${server.url}/`) })).to.include({ kind: "sent" });
    expect(requestLines()).to.deep.equal([POST]);
  });

  it("opens a user's channel once and sends messages there", async () => {
    await send(fixture, { to: `user:${USER}` });
    await send(fixture, { to: ` user:${USER} ` });

    expect(requestLines()).to.deep.equal([OPEN, TO_USER, TO_USER]);
    expect(server.requests[0]?.text).to.equal(`{"recipient_id":"${USER}"}`);
    expect(server.requests[0]?.headers.authorization).to.equal(`Bot ${TOKEN}`);
  });

  it("reopens a user's channel after it was gone", async () => {
    fixture.script(ROUTES[OPEN] as Behaviour, refuses(404, 10003));

    expect(await send(fixture, { to: `user:${USER}` })).to.include({ kind: "gone" });
    expect(await send(fixture, { to: `user:${USER}` })).to.include({ kind: "sent" });

    expect(requestLines()).to.deep.equal([OPEN, TO_USER, OPEN, TO_USER]);
  });

  const unopened: [string, Behaviour, SendOutcome["kind"]][] = [
    ["an unknown user", refuses(404, 10013), "gone"],
    ["a user who accepts no messages", refuses(403, 50007), "gone"],
    ["an invalid recipient", refuses(400, 50033), "gone"],
    ["an invalid form", refuses(400, 50035), "gone"],
    ["an invalid token", refuses(401, 0), "authentication"],
    ["too many direct channels opened", refuses(400, 40003), "rate-limited"],
    ["503", answers(503), "transient"],
    ["504", answers(504), "transient"],
    ["a connection that breaks", breaks, "transient"],
    ["an answer without a channel", answers(200, {}), "transient"],
    ["an answer whose channel is a path", answers(200, { id: "1/../2" }), "transient"],
  ];
  for (const [title, behaviour, kind] of unopened) {
    it(`returns ${kind} and sends no message if the direct channel cannot be opened: ${title}`, async () => {
      fixture.script(behaviour);

      expect((await send(fixture, { to: `user:${USER}` })).kind).to.equal(kind);
      expect(requestLines()).to.deep.equal([OPEN]);
    });
  }

  const limited = (retryAfter: unknown, headers: Record<string, string>, more: object = {}): Behaviour =>
    answers(429, { message: "You are being rate limited.", retry_after: retryAfter, global: false, ...more }, headers);
  const bucket = { "X-RateLimit-Bucket": "abcd1234" };
  const limits: [string, Behaviour, number | null, "channel" | "recipient"][] = [
    ["of a bucket", limited(64.57, { ...bucket, "X-RateLimit-Scope": "user" }), 64_570, "recipient"],
    ["of a resource", limited(1336.57, { ...bucket, "X-RateLimit-Scope": "shared" }), 1_336_570, "recipient"],
    ["on all requests, by the body", limited(0.5, bucket, { global: true }), 500, "channel"],
    ["on all requests, by its scope", limited(0.5, { ...bucket, "X-RateLimit-Scope": "global" }), 500, "channel"],
    ["on all requests, by its header", limited(0.5, { ...bucket, "X-RateLimit-Global": "true" }), 500, "channel"],
    ["of the bot", limited(2, { "X-RateLimit-Scope": "user" }), 2_000, "channel"],
    ["of less than a millisecond", limited(0.0001, bucket), 1, "recipient"],
    ["in the header alone", limited(undefined, { ...bucket, "Retry-After": "65" }), 65_000, "recipient"],
    ["of an unknown length", limited("soon", bucket), null, "recipient"],
    ["of slow mode", limited(7.5, {}, { code: 20016 }), 7_500, "recipient"],
    ["of a channel", limited(7.5, {}, { code: 20028 }), 7_500, "recipient"],
    ["of a resource, by its code", limited(7.5, {}, { code: 40062 }), 7_500, "channel"],
    ["of slow mode in a 400", refuses(400, 20016, { retry_after: 3 }), 3_000, "recipient"],
  ];
  describeOutcomes(fixture, [
    ...limits.map(([title, behaviour, retryAfterMs, scope]): Outcome => {
      const expected = { kind: "rate-limited", retryAfterMs, scope } as const;
      return [`a limit ${title}`, behaviour, expected];
    }),
    [
      "a 429 of Cloudflare, which has no JSON",
      answers(429, "<html>error 1015</html>", { "Retry-After": "3600" }),
      { kind: "rate-limited", retryAfterMs: 3_600_000, scope: "channel" },
    ],
  ]);

  const refusals: [number, number, SendOutcome["kind"]][] = [
    [401, 0, "authentication"],
    [401, 40001, "authentication"],
    [403, 40002, "authentication"],
    [400, 50014, "authentication"],
    [403, 50001, "gone"],
    [403, 50007, "gone"],
    [400, 50008, "gone"],
    [403, 50013, "gone"],
    [400, 50033, "gone"],
    [400, 50083, "gone"],
    [403, 50278, "gone"],
    [404, 10003, "gone"],
    [404, 10015, "gone"],
    [400, 40058, "gone"],
    [400, 160005, "gone"],
    [400, 20009, "refused"],
    [400, 200000, "refused"],
    [403, 200000, "refused"],
    [400, 240000, "refused"],
    [403, 0, "gone"],
    [403, 99999, "gone"],
    [400, 0, "content"],
    [400, 50006, "content"],
    [400, 50035, "content"],
    [400, 99999, "content"],
    [413, 40005, "content"],
    [404, 0, "transient"],
    [403, 40004, "transient"],
    [403, 40333, "transient"],
    [503, 130000, "transient"],
    [500, 0, "transient"],
    [502, 50035, "transient"],
  ];
  describeOutcomes(fixture, [
    ...refusals.map(([status, code, kind]): Outcome => {
      const reason = new RegExp(`^Discord answered ${status}${code ? ` \\(${code}\\)` : ""}`);
      return [`${status} with code ${code}`, refuses(status, code), { kind }, reason];
    }),
    ...[TEXT, { toString: 1 }, 1.5, null].map(
      (code): Outcome => [`403 with the code ${JSON.stringify(code)}`, refuses(403, code), { kind: "transient" }],
    ),
  ]);

  it("check returns the bot's name and sends no message", async () => {
    const found = await fixture.channel.check(new AbortController().signal);

    expect(found).to.deep.equal({
      ok: true,
      detail: "posts as signalbox; without buttons, because channels.discord.allowFrom is not set",
    });
    expect(requestLines()).to.deep.equal(["GET /users/@me"]);
    expect(server.requests[0]?.headers.authorization).to.equal(`Bot ${TOKEN}`);
  });
});
