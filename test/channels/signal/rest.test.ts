import { expect } from "chai";
import { signalChannel } from "../../../src/channels/signal/channel.ts";
import { answers, type Behaviour, breaksWithin } from "../../support/servers/channelServer.ts";
import {
  type ChannelScript,
  describeChannel,
  describeOutcomes,
  expectNoSecrets,
  type Outcome,
  send,
  TEXT,
} from "../describeChannel.ts";

const ACCOUNT = "+4915100000000";
const TO = "+4915111111111";
const UUID = "7c1f7d04-5a3c-4d1c-9d4e-0f6b8a1f2e3d";
/** The id of a group (32 bytes) in signal-cli's notation, and in that of signal-cli-rest-api. */
const GROUP = Buffer.alloc(32, 7).toString("base64");
const REST_GROUP = `group.${Buffer.from(GROUP).toString("base64")}`;

const ABOUT = answers(200, { versions: ["v1", "v2"], build: 2, mode: "json-rpc", version: "0.100" });
const sent = (more: object = {}) => answers(201, { timestamp: "1732190400000", ...more });
const refuses = (error: string): Behaviour => answers(400, { error });

const SCRIPT: ChannelScript = {
  title: "Signal channel through signal-cli-rest-api",
  usual: sent(),
  channelAt: (apiUrl) => signalChannel({ kind: "rest", account: ACCOUNT, apiUrl }),
  to: TO,
  secrets: [],
  style: { dialect: "signal", limit: 2_000, unit: "bytes" },
  idempotentForMs: 0,
  invalidRecipients: ["", "anna", "4915111111111", "+49 151 1111", "group.", "group.anna", "u:", "--help"],
};

describeChannel(SCRIPT, (fixture) => {
  const { server, channelAt } = fixture;
  const check = () => fixture.channel.check(new AbortController().signal);

  for (const [plain, mode] of [
    [false, "styled"],
    [true, "normal"],
  ] as const) {
    it(`sends ${plain ? "a plain" : "a styled"} message`, async () => {
      const result = await send(fixture, { plain });

      expect(result).to.deep.equal({ kind: "sent", id: "1732190400000" });
      const [{ method, path, headers, body } = expect.fail("nothing was sent")] = server.requests;
      expect({ method, path, body }).to.deep.equal({
        method: "POST",
        path: "/v2/send",
        body: { number: ACCOUNT, recipients: [TO], message: TEXT, text_mode: mode },
      });
      expect(headers["content-type"]).to.match(/^application\/json/);
      expect(headers.authorization).to.equal(undefined);
    });
  }

  it("accepts an API address with a path and a proxy's user and password", async () => {
    const through = channelAt(server.url.replace("//", "//me:p%40ss@").concat("/signal/"));

    const result = await send({ ...fixture, secrets: ["p@ss", "p%40ss"] }, {}, { channel: through });

    expect(result.kind).to.equal("sent");
    expect(server.requests[0]?.path).to.equal("/signal/v2/send");
    expect(server.requests[0]?.headers.authorization).to.equal(`Basic ${btoa("me:p@ss")}`);
  });

  it("names the key of an invalid address, but not its value", () => {
    expect(() => channelAt("http://me:p@ss word:x")).to.throw(/^channels\.signal\.apiUrl is not an address\.$/);
  });

  const recipients: [string, string, string][] = [
    ["a number", TO, TO],
    ["a UUID", UUID, UUID],
    ["a group", REST_GROUP, REST_GROUP],
    ["a group by signal-cli's own id", `group.${GROUP}`, REST_GROUP],
    ["a username", "u:anna.42", "anna.42"],
    ["a username without its mark", "anna.42", "anna.42"],
    ["a username that begins like a group", "group.1234", "group.1234"],
  ];
  for (const [title, to, expected] of recipients) {
    it(`sends to ${title}`, async () => {
      const result = await send(fixture, { to });

      expect(result.kind).to.equal("sent");
      expect(server.requests[0]?.body.recipients).to.deep.equal([expected]);
    });
  }

  const results: Outcome[] = [
    [
      "the list that newer versions return",
      answers(201, [{ timestamp: "1732190400000" }]),
      { kind: "sent", id: "1732190400000" },
    ],
    ["an empty list", answers(201, []), { kind: "ambiguous" }],
    ["201 without a timestamp", answers(201, { timestamp: { toString: 1 } }), { kind: "ambiguous" }],
    [
      "201 with a failure of the one recipient",
      sent({ errors: { recipients: [{ number: TO, reason: "UNREGISTERED_FAILURE" }] } }),
      { kind: "gone" },
    ],
    [
      "a required captcha",
      answers(429, {
        error: `${TEXT}. Use the attached challenge tokens`,
        challenge_tokens: ["t-1"],
        account: ACCOUNT,
      }),
      {
        kind: "rate-limited",
        retryAfterMs: 15 * 60_000,
        scope: "channel",
        reason: "Signal limits the account until a captcha is solved: submitRateLimitChallenge of signal-cli.",
      },
    ],
    [
      "a limit without a captcha, which can follow an accepted message",
      answers(429, { error: "Failed to send message due to rate limiting.", challenge_tokens: [""] }),
      { kind: "ambiguous" },
    ],
    [
      "a limit in the error text",
      refuses(`Failed to send (some) messages:\n${TO}: Rate limit failure for "${TO}", retry after 30 seconds\n`),
      {
        kind: "rate-limited",
        retryAfterMs: 30_000,
        scope: "recipient",
        reason: "Signal limits messages to this recipient.",
      },
    ],
    [
      "a limit in the error text without a time",
      refuses(`Failed to send (some) messages:\n${TO}: Rate limit failure for "${TO}"\nFailed to send message\n`),
      { kind: "ambiguous" },
    ],
    [
      "a captcha in the error text",
      refuses(
        `CAPTCHA proof required for sending to "${TO}", available options "CAPTCHA" with challenge token "t-1", or wait "86400" seconds.\n`,
      ),
      {
        kind: "rate-limited",
        retryAfterMs: 86_400_000,
        scope: "channel",
        reason: "Signal limits the account until a captcha is solved: submitRateLimitChallenge of signal-cli.",
      },
    ],
    [
      "a captcha in the error text without a time",
      refuses(`CAPTCHA proof required for sending to "${TO}", with challenge token "t-1", or wait "-1" seconds.\n`),
      {
        kind: "rate-limited",
        retryAfterMs: 15 * 60_000,
        scope: "channel",
        reason: "Signal limits the account until a captcha is solved: submitRateLimitChallenge of signal-cli.",
      },
    ],
    [
      "signal-cli's results among what it printed",
      refuses(
        `INFO  something\n{"timestamp":1,"results":[{"recipientAddress":{"number":"${TO}"},"type":"UNREGISTERED_FAILURE"}]}\nFailed to send message\n`,
      ),
      { kind: "gone" },
    ],
    [
      "a recipient who is not registered",
      refuses(`The user ${TO} is not registered.`),
      { kind: "gone", reason: "signal-cli-rest-api answered 400: The user … is not registered." },
    ],
    [
      "a recipient who is not registered, in the old format",
      refuses(`Failed to send:\n${TO}: Unregistered user "${TO}"`),
      { kind: "gone" },
    ],
    [
      "a safety number that is not trusted",
      refuses("Unable to complete request due to untrusted recipient keys"),
      { kind: "gone" },
    ],
    ["an unknown account", refuses("Specified account does not exist"), { kind: "authentication" }],
    ["an account that is not registered", refuses(`User ${ACCOUNT} is not registered.\n`), { kind: "authentication" }],
    ["an error whose body breaks off", breaksWithin(400), { kind: "ambiguous" }],
    ["a signal-cli that exceeded its time limit", refuses("process killed as timeout reached"), { kind: "ambiguous" }],
    [
      "an internal error, which can follow an accepted message",
      refuses("Failed to send message: [429] Rate limit exceeded: 429 (RateLimitException) (UnexpectedErrorException)"),
      { kind: "ambiguous" },
    ],
    [
      "any other error text",
      refuses("Failed to send message"),
      { kind: "transient", reason: "signal-cli-rest-api answered 400: Failed to send message" },
    ],
    [
      "an error text that quotes the message",
      refuses(`Invalid text: ${JSON.stringify(TEXT)}`),
      { kind: "transient", reason: "signal-cli-rest-api answered 400" },
    ],
    ["400 of another server", answers(400, "<html>Bad request</html>"), { kind: "transient" }],
    ["401 of a proxy", answers(401, "<html>Who are you?</html>"), { kind: "authentication" }],
  ];
  describeOutcomes(fixture, results);

  it("returns sent for a group message that one member failed to receive", async () => {
    server.script(sent({ errors: { recipients: [{ number: TO, reason: "UNREGISTERED_FAILURE" }] } }));

    const result = await send(fixture, { to: REST_GROUP });

    expect(result).to.deep.equal({ kind: "sent", id: "1732190400000" });
  });

  describe("check", () => {
    const cases: [string, Behaviour[], boolean, RegExp][] = [
      [
        "succeeds for a registered account",
        [ABOUT, answers(200, ["+4915122222222", ACCOUNT])],
        true,
        /sends as \+4915100000000/,
      ],
      ["fails for an unknown account", [ABOUT, answers(200, [])], false, /no account \+4915100000000/],
      [
        "succeeds for an older version, which lists no accounts",
        [ABOUT, answers(404, "404 page not found")],
        true,
        /sends as/,
      ],
      [
        "fails for a server that cannot list its accounts",
        [ABOUT, answers(500, { error: "Couldn't" })],
        true,
        /sends as/,
      ],
      [
        "fails for a server that is not signal-cli-rest-api",
        [answers(200, "<html>Hello</html>")],
        false,
        /no signal-cli-rest-api/,
      ],
      ["fails for an error of a proxy", [answers(502)], false, /502/],
    ];
    for (const [title, behaviours, ok, detail] of cases) {
      it(title, async () => {
        server.script(...behaviours);

        const found = await check();

        expect(found.ok).to.equal(ok);
        expect(found.detail).to.match(detail);
        const paths = ["GET /v1/about", "GET /v1/accounts"].slice(0, behaviours.length);
        expect(server.requests.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(paths);
        expectNoSecrets(fixture, found);
      });
    }
  });
});
