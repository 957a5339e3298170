import { expect } from "chai";
import { signalChannel } from "../../../src/channels/signal/channel.ts";
import { answers, type Behaviour } from "../../support/servers/channelServer.ts";
import {
  type ChannelScript,
  describeChannel,
  describeOutcomes,
  expectNoSecrets,
  KEY,
  kindOf,
  type Outcome,
  send,
  TEXT,
} from "../describeChannel.ts";

const ACCOUNT = "+4915100000000";
const TO = "+4915111111111";
const UUID = "7c1f7d04-5a3c-4d1c-9d4e-0f6b8a1f2e3d";
const GROUP = Buffer.alloc(32, 7).toString("base64");
const OLD_GROUP = Buffer.alloc(16, 7).toString("base64");
const doubly = (id: string) => `group.${Buffer.from(id).toString("base64")}`;
/** `TEXT` without marks. */
const SHOWN = "the secret text";

const one = (type: unknown, more: object = {}) => ({ recipientAddress: { uuid: UUID, number: TO }, type, ...more });
const delivered = (...results: unknown[]) =>
  answers(200, { jsonrpc: "2.0", id: KEY, result: { timestamp: 1732190400000, results } });
/** An error response of the daemon, optionally with results for recipients. */
const refuses = (code: unknown, message: unknown, ...results: unknown[]): Behaviour =>
  answers(200, {
    jsonrpc: "2.0",
    id: KEY,
    error: { code, message, data: results.length > 0 ? { response: { timestamp: 1, results } } : null },
  });
const failed = (...results: unknown[]) => refuses(-1, "Failed to send message", ...results);

const SCRIPT: ChannelScript = {
  title: "Signal channel through signal-cli's daemon",
  usual: delivered(one("SUCCESS")),
  channelAt: (apiUrl) => signalChannel({ kind: "daemon", account: ACCOUNT, apiUrl }),
  to: TO,
  secrets: [SHOWN],
  style: { dialect: "signal", limit: 2_000, unit: "bytes" },
  idempotentForMs: 0,
  invalidRecipients: ["anna"],
};

describeChannel(SCRIPT, (fixture) => {
  const { server } = fixture;
  const check = () => fixture.channel.check(new AbortController().signal);

  it("sends a message with its styles", async () => {
    const result = await send(fixture);

    expect(result).to.deep.equal({ kind: "sent", id: "1732190400000" });
    const [{ method, path, headers, body } = expect.fail("nothing was sent")] = server.requests;
    expect({ method, path, body }).to.deep.equal({
      method: "POST",
      path: "/api/v1/rpc",
      body: {
        jsonrpc: "2.0",
        id: KEY,
        method: "send",
        params: { account: ACCOUNT, recipient: [TO], message: SHOWN, textStyle: ["4:6:ITALIC"] },
      },
    });
    expect(headers["content-type"]).to.match(/^application\/json/);
  });

  it("sends a message without styles, and plain text unchanged", async () => {
    await send(fixture, { text: "no styles \\*" });
    await send(fixture, { plain: true });

    const [first, second] = server.requests.map(({ body }) => body.params);
    expect(first).to.deep.equal({ account: ACCOUNT, recipient: [TO], message: "no styles *" });
    expect(second).to.deep.equal({ account: ACCOUNT, recipient: [TO], message: TEXT });
  });

  const recipients: [string, string, object][] = [
    ["a UUID", UUID, { recipient: [UUID] }],
    ["a group", doubly(GROUP), { groupId: GROUP }],
    ["a group by signal-cli's own id", `group.${GROUP}`, { groupId: GROUP }],
    ["a group of the old format", doubly(OLD_GROUP), { groupId: OLD_GROUP }],
    ["a username", "u:anna.42", { username: ["anna.42"] }],
    ["a username without its prefix", "anna.42", { username: ["anna.42"] }],
  ];
  for (const [title, to, expected] of recipients) {
    it(`sends to ${title}`, async () => {
      const result = await send(fixture, { to, plain: true });

      expect(result.kind).to.equal("sent");
      expect(server.requests[0]?.body.params).to.deep.equal({ account: ACCOUNT, ...expected, message: TEXT });
    });
  }

  const CAPTCHA = "Signal limits the account until a captcha is solved: submitRateLimitChallenge of signal-cli.";
  const results: Outcome[] = [
    [
      "a group in which one member received it",
      delivered(one("UNREGISTERED_FAILURE"), one("SUCCESS")),
      { kind: "sent" },
    ],
    ["a group without other members", delivered(), { kind: "sent" }],
    [
      "a result in which no member received it",
      delivered(one("UNREGISTERED_FAILURE")),
      {
        kind: "gone",
        reason: "Signal did not accept the message (UNREGISTERED_FAILURE): this recipient is not on Signal.",
      },
    ],
    ["a recipient who is not registered", failed(one("UNREGISTERED_FAILURE")), { kind: "gone" }],
    [
      "a safety number that is not trusted",
      refuses(-4, "Failed to send message due to untrusted identities", one("IDENTITY_FAILURE")),
      { kind: "gone" },
    ],
    [
      "an unreachable Signal",
      failed(one("NETWORK_FAILURE")),
      { kind: "transient", reason: "Signal did not accept the message (NETWORK_FAILURE)." },
    ],
    ["a recipient without keys", failed(one("INVALID_PRE_KEY_FAILURE")), { kind: "transient" }],
    ["an unknown result", failed(one("NEW_FAILURE")), { kind: "transient" }],
    ["an invalid result", failed(null, 7, one({ toString: 1 })), { kind: "transient" }],
    [
      "unregistered and unreachable members",
      failed(one("UNREGISTERED_FAILURE"), one("NETWORK_FAILURE")),
      { kind: "transient" },
    ],
    [
      "a limit",
      refuses(-5, "Failed to send message due to rate limiting", one("RATE_LIMIT_FAILURE", { retryAfterSeconds: 30 })),
      {
        kind: "rate-limited",
        retryAfterMs: 30_000,
        scope: "recipient",
        reason: "Signal limits messages to this recipient.",
      },
    ],
    [
      "a limit until a captcha is solved",
      refuses(-5, "limited", one("RATE_LIMIT_FAILURE", { token: "t-1", retryAfterSeconds: 86_400 })),
      { kind: "rate-limited", retryAfterMs: 86_400_000, scope: "channel", reason: CAPTCHA },
    ],
    [
      "a limit of some members, longest first",
      failed(
        one("UNREGISTERED_FAILURE"),
        one("RATE_LIMIT_FAILURE", { retryAfterSeconds: 30 }),
        one("RATE_LIMIT_FAILURE", { retryAfterSeconds: 60 }),
      ),
      {
        kind: "rate-limited",
        retryAfterMs: 60_000,
        scope: "recipient",
        reason: "Signal limits messages to this recipient.",
      },
    ],
    [
      "a limit without a time, which can follow an accepted message",
      refuses(-5, "limited", one("RATE_LIMIT_FAILURE", { retryAfterSeconds: null })),
      { kind: "ambiguous" },
    ],
    ["a limit without results", refuses(-5, "limited"), { kind: "ambiguous" }],
    [
      "a rejected captcha",
      refuses(-6, "Captcha rejected"),
      { kind: "rate-limited", retryAfterMs: 15 * 60_000, scope: "channel", reason: CAPTCHA },
    ],
    [
      "a group without this account",
      refuses(-1, "User is not a member of the group"),
      { kind: "gone", reason: "signal-cli answered error -1: User is not a member of the group" },
    ],
    ["a lost connection to Signal", refuses(-3, "Connection closed"), { kind: "transient" }],
    ["untrusted keys without results", refuses(-4, "untrusted"), { kind: "gone" }],
    ["an unknown account", refuses(-32602, "Specified account does not exist"), { kind: "authentication" }],
    ["an invalid request", refuses(-32600, "invalid request"), { kind: "authentication" }],
    ["an unknown method", refuses(-32601, "Method not implemented"), { kind: "authentication" }],
    ["invalid JSON", refuses(-32700, "parse error"), { kind: "authentication" }],
    [
      "an internal error, which can follow an accepted message",
      refuses(-32603, "Failed to send message: [429] Rate limit exceeded (RateLimitException)"),
      { kind: "ambiguous" },
    ],
    ["an unknown code", refuses(-7, "new"), { kind: "ambiguous" }],
    [
      "an error that quotes the message",
      refuses(-1, `Cannot send "${SHOWN}"`),
      { kind: "gone", reason: "signal-cli answered error -1" },
    ],
    ["an error with fields of unexpected types", refuses({ toString: 1 }, { toString: 1 }), { kind: "ambiguous" }],
    ["an error text that is not a string", refuses(-1, { toString: 1 }), { kind: "gone" }],
    ["an answer to a notification", answers(201), { kind: "ambiguous" }],
    ["a rejected content type", answers(415), { kind: "transient" }],
    ["401 of a proxy", answers(401), { kind: "authentication" }],
  ];
  describeOutcomes(fixture, results);

  it("returns authentication for a daemon that expects another host name", async () => {
    server.script(answers(421), answers(421)); // fetch repeats the request, as the standard demands for 421

    const result = await send(fixture);

    expect(kindOf(result)).to.deep.include({ kind: "authentication" });
    expect(kindOf(result).reason).to.match(/or localhost/);
    expect(server.requests).to.have.length(2);
  });

  describe("check", () => {
    const lists = (...numbers: (string | null)[]) =>
      answers(200, { jsonrpc: "2.0", id: "check", result: numbers.map((number) => ({ number })) });
    const cases: [string, Behaviour, boolean, RegExp][] = [
      ["succeeds for a registered account", lists(null, ACCOUNT), true, /sends as \+4915100000000/],
      ["fails for an unknown account", lists("+4915122222222"), false, /no account \+4915100000000/],
      [
        "succeeds for a daemon of a single account, which lists none",
        refuses(-32601, "Method not implemented"),
        true,
        /started for/,
      ],
      ["fails for another error", refuses(-32603, "no database"), false, /-32603: no database/],
      ["fails for a server that is not signal-cli", answers(200, "<html>Hello</html>"), false, /answered 200/],
    ];
    for (const [title, behaviour, ok, detail] of cases) {
      it(title, async () => {
        server.script(behaviour);

        const found = await check();

        expect(found.ok).to.equal(ok);
        expect(found.detail).to.match(detail);
        expect(server.requests[0]?.body).to.deep.equal({
          jsonrpc: "2.0",
          id: "check",
          method: "listAccounts",
          params: {},
        });
        expectNoSecrets(fixture, found);
      });
    }
  });
});
