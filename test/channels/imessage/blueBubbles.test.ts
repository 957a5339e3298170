import { expect } from "chai";
import type { SendOutcome } from "../../../src/channels/channel.ts";
import { imessageChannel } from "../../../src/channels/imessage/channel.ts";
import { answers, type Behaviour, breaks, breaksWithin } from "../../support/servers/channelServer.ts";
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

const PASSWORD = "blue & bubbles/secret+word";
const QUERY = "?password=blue+%26+bubbles%2Fsecret%2Bword";
const TO = "+4915111111111";
const CHAT = `iMessage;-;${TO}`;

const message = (more: object = {}) => ({ guid: "p:0/message-1", text: TEXT, error: 0, tempGuid: KEY, ...more });
const sent = answers(200, { status: 200, message: "Message sent!", data: message() });
const chatCreated = answers(200, {
  status: 200,
  message: "Successfully created chat!",
  data: { guid: CHAT, messages: [message({ guid: "p:0/message-2" })] },
});
/** An error response of BlueBubbles. */
const refuses = (status: number, type: unknown, words: unknown, data: unknown = null): Behaviour =>
  answers(status, { status, message: "Message Send Error", error: { type, message: words }, data });
const failed = (words: string, data: unknown = null) => refuses(500, "iMessage Error", words, data);
const SEE_CODE = "Failed to send message! See attached message error code.";
/** Node's error for a failed script: the whole command, with the message escaped for a shell. */
const scriptFailed = (end: string) =>
  failed(
    `Command failed: osascript -e "tell application \\"Messages\\"" -e "send \\"the \\\\*secret\\\\* text\\" to targetChat"\n${end}`,
  );

const imessageAt = (apiUrl: string, method: "apple-script" | "private-api" = "apple-script") =>
  imessageChannel({ kind: "bluebubbles", apiUrl, password: PASSWORD, method, command: ["imsg"] }, {});

const SCRIPT: ChannelScript = {
  title: "iMessage channel through BlueBubbles",
  usual: sent,
  channelAt: (apiUrl) => imessageAt(apiUrl),
  to: TO,
  secrets: [PASSWORD, QUERY.slice(10), "bubbles", "secret"],
  style: { dialect: "plain", limit: 4_000, unit: "utf16" },
  idempotentForMs: 0,
  // Some would be shell commands: BlueBubbles inserts a guid unescaped into one.
  invalidRecipients: [
    "",
    "Anna",
    "Anna Smith",
    "12",
    "chat1234567890",
    "iMessage;-;",
    "iMessage;-;$(id)",
    'any;+;a"b',
    "a`b@c.d",
    "anna k.m@example.org",
    "(anna) k@example.org",
  ],
};

describeChannel(SCRIPT, (fixture) => {
  const { server, channelAt } = fixture;
  const check = () => fixture.channel.check(new AbortController().signal);

  for (const plain of [false, true]) {
    for (const method of ["apple-script", "private-api"] as const) {
      it(`sends a ${plain ? "plain " : ""}message by ${method}`, async () => {
        const result = await send(fixture, { plain }, { channel: imessageAt(server.url, method) });

        expect(result).to.deep.equal({ kind: "sent", id: "p:0/message-1" });
        const [{ method: verb, path, headers, body } = expect.fail("nothing was sent")] = server.requests;
        expect({ verb, path, body }).to.deep.equal({
          verb: "POST",
          path: `/api/v1/message/text${QUERY}`,
          body: { chatGuid: CHAT, tempGuid: KEY, message: TEXT, method },
        });
        expect(headers["content-type"]).to.match(/^application\/json/);
      });
    }
  }

  it("accepts an API address with a path and a proxy's password", async () => {
    const through = channelAt(server.url.replace("//", "//me:pass@").concat("/bb"));

    const result = await send(fixture, {}, { channel: through });

    expect(result.kind).to.equal("sent");
    expect(server.requests[0]?.path).to.equal(`/bb/api/v1/message/text${QUERY}`);
    expect(server.requests[0]?.headers.authorization).to.equal(`Basic ${btoa("me:pass")}`);
  });

  const recipients: [string, string, string][] = [
    ["a number", TO, CHAT],
    ["a number with spaces and brackets", "+49 (151) 111-11.111", CHAT],
    ["a short number", "22000", "iMessage;-;22000"],
    ["a mail address", "anna.k+x@example.org", "iMessage;-;anna.k+x@example.org"],
    ["a mail address with a zero in brackets", "anna(0)@example.org", "iMessage;-;anna(0)@example.org"],
    ["a chat with one person", CHAT, CHAT],
    ["a chat with one by SMS", `SMS;-;${TO}`, `SMS;-;${TO}`],
    ["a chat of newer Macs", `any;-;${TO}`, `any;-;${TO}`],
    ["a group", "iMessage;+;chat1234567890", "iMessage;+;chat1234567890"],
  ];
  for (const [title, to, guid] of recipients) {
    it(`sends to ${title}`, async () => {
      const result = await send(fixture, { to });

      expect(result.kind).to.equal("sent");
      expect(server.requests[0]?.body.chatGuid).to.equal(guid);
    });
  }

  it("returns gone for a number with a trunk zero and sends no request", async () => {
    const result = await send(fixture, { to: "+49 (0)151 1234567" });

    expect(result.kind).to.equal("gone");
    expect(kindOf(result).reason).to.include("(0)");
    expect(server.requests).to.deep.equal([]);
  });

  describe("starts a missing chat", () => {
    const noChat: [string, Behaviour][] = [
      ["for the message Chat does not exist", failed("Chat does not exist!")],
      ["for the status 404", refuses(404, "Database Error", "Not Found")],
    ];
    const chats: [string, string, object][] = [
      ["a number", TO, { addresses: [TO], service: "iMessage" }],
      ["a mail address", "anna@example.org", { addresses: ["anna@example.org"], service: "iMessage" }],
      ["a chat with one by SMS", `SMS;-;${TO}`, { addresses: [TO], service: "SMS" }],
      ["a chat of newer Macs", `any;-;${TO}`, { addresses: [TO], service: "iMessage" }],
    ];
    for (const [how, behaviour] of noChat) {
      for (const [title, to, whom] of chats) {
        it(`by its ${title}, ${how}`, async () => {
          server.script(behaviour, chatCreated);

          const result = await send(fixture, { to });

          expect(result).to.deep.equal({ kind: "sent", id: "p:0/message-2" });
          const { method, path, body } = server.requests[1] ?? expect.fail("no chat was begun");
          expect({ method, path, body }).to.deep.equal({
            method: "POST",
            path: `/api/v1/chat/new${QUERY}`,
            body: { ...whom, message: TEXT, tempGuid: KEY, method: "apple-script" },
          });
        });
      }

      it(`returns gone for a missing group, ${how}`, async () => {
        server.script(behaviour);

        const result = await send(fixture, { to: "iMessage;+;chat1234567890" });

        expect(result.kind).to.equal("gone");
        expect(server.requests).to.have.length(1);
      });
    }

    const ends: [string, Behaviour, SendOutcome["kind"]][] = [
      ["returns sent when the response lacks the message", answers(200, { data: { guid: CHAT } }), "sent"],
      ["returns ambiguous when the response lacks all data", answers(200, { data: null }), "ambiguous"],
      ["returns gone when the new chat does not exist either", failed("Chat does not exist!"), "gone"],
      [
        "returns ambiguous when the message is not confirmed",
        refuses(500, "Server Error", "Message send timeout"),
        "ambiguous",
      ],
      ["returns ambiguous when the connection breaks", breaks, "ambiguous"],
    ];
    for (const [title, behaviour, kind] of ends) {
      it(title, async () => {
        server.script(failed("Chat does not exist!"), behaviour);

        const result = await send(fixture);

        expect(result.kind).to.equal(kind);
        expect(server.requests).to.have.length(2);
      });
    }
  });

  const results: Outcome[] = [
    [
      "an invalid password",
      answers(401, { status: 401, message: "No", error: { type: "Authentication Error", message: "Unauthorized" } }),
      { kind: "authentication", reason: "BlueBubbles answered 401 (Authentication Error): Unauthorized" },
    ],
    ["a forbidden request", refuses(403, "Authentication Error", "Forbidden"), { kind: "authentication" }],
    [
      "a message whose earlier attempt is pending",
      refuses(400, "Validation Error", `Message is already queued to be sent! (Temp GUID: ${KEY})`),
      { kind: "ambiguous" },
    ],
    [
      "a rejected request",
      refuses(400, "Validation Error", "The message field is required."),
      { kind: "content", reason: "BlueBubbles answered 400 (Validation Error): The message field is required." },
    ],
    [
      "a recipient without iMessage",
      failed(SEE_CODE, message({ error: 22 })),
      { kind: "gone", reason: `BlueBubbles answered 500 (iMessage Error): ${SEE_CODE}; Messages' error 22` },
    ],
    ["another error of Messages", failed(SEE_CODE, message({ error: 4 })), { kind: "transient" }],
    ["a message that is not confirmed in time", failed(SEE_CODE), { kind: "ambiguous" }],
    ["a message that is not confirmed and has no error", failed(SEE_CODE, message()), { kind: "ambiguous" }],
    [
      "a message that is missing in its database",
      failed("Failed to send message! Message not found in database after 60 seconds!"),
      { kind: "ambiguous" },
    ],
    [
      "a refused script whose error quotes the message",
      scriptFailed("29:120: execution error: Messages got an error: Can’t get account 1. (-1728)\n"),
      {
        kind: "transient",
        reason: "BlueBubbles answered 500 (iMessage Error): Messages got an error: Can’t get account 1. (-1728)",
      },
    ],
    [
      "a script that takes too long",
      scriptFailed("1:2: execution error: AppleEvent timed out. (-1712)"),
      { kind: "ambiguous" },
    ],
    [
      "a script that fails without an error text",
      scriptFailed(""),
      { kind: "ambiguous", reason: "BlueBubbles answered 500 (iMessage Error)" },
    ],
    [
      "a script whose error quotes the message at its end",
      scriptFailed(`1:2: execution error: Can’t send "the \\*secret\\* text". (-1728)`),
      { kind: "transient", reason: "BlueBubbles answered 500 (iMessage Error)" },
    ],
    ["a disabled Private API", failed("iMessage Private API is not enabled!"), { kind: "transient" }],
    ["a missing Private API helper", failed("iMessage Private API Helper is not connected!"), { kind: "transient" }],
    ["an error of its database", refuses(500, "Database Error", "SQLITE_BUSY"), { kind: "transient" }],
    ["an error whose body breaks off", breaksWithin(500), { kind: "ambiguous" }],
    ["an unexpected error", refuses(500, "Server Error", "x is undefined"), { kind: "ambiguous" }],
    [
      "an error text with the password",
      refuses(500, "Server Error", `GET /?password=${PASSWORD}`),
      { kind: "ambiguous" },
    ],
    ["an error text with the encoded password", refuses(500, "Server Error", `GET /${QUERY}`), { kind: "ambiguous" }],
    [
      "a 504 of its own",
      refuses(504, "Gateway Timeout", "The server took too long to respond and has timed-out!"),
      { kind: "ambiguous" },
    ],
    [
      "an error with fields of unexpected types",
      refuses(500, { toString: 1 }, { toString: 1 }, 7),
      { kind: "ambiguous" },
    ],
    ["a 404 of a closed tunnel", answers(404, "Not Found"), { kind: "transient" }],
    ["200 without a guid", answers(200, { status: 200, data: { guid: 7 } }), { kind: "ambiguous" }],
  ];
  describeOutcomes(fixture, results, { to: "iMessage;+;chat1234567890" });

  it("does not mistake the text of a message for an error text", async () => {
    const text = "Chat does not exist! It is already queued, execution error: -1712";
    server.script(failed(`Command failed: osascript -e "send \\"${text}\\""\n1:2: execution error: Can’t. (-1728)`));

    const result = await send(fixture, { text });

    expect(result).to.deep.include({ kind: "transient" });
    expect(server.requests).to.have.length(1);
  });

  describe("check", () => {
    const cases: [string, Behaviour, boolean, RegExp][] = [
      [
        "succeeds with a valid password",
        answers(200, { status: 200, message: "Ping received!", data: "pong" }),
        true,
        /answers/,
      ],
      [
        "fails with an invalid password",
        refuses(401, "Authentication Error", "Unauthorized"),
        false,
        /401 .*Unauthorized/,
      ],
      ["fails for a server that is not BlueBubbles", answers(200, "<html>Hello</html>"), false, /answered 200/],
      ["fails for a server that responds with a message", sent, false, /not BlueBubbles/],
      ["fails for a closed tunnel", answers(502), false, /502/],
    ];
    for (const [title, behaviour, ok, detail] of cases) {
      it(title, async () => {
        server.script(behaviour);

        const found = await check();

        expect(found.ok).to.equal(ok);
        expect(found.detail).to.match(detail);
        const [{ method, path, text } = expect.fail("no request was sent")] = server.requests;
        expect({ method, path, text }).to.deep.equal({ method: "GET", path: `/api/v1/ping${QUERY}`, text: "" });
        expectNoSecrets(fixture, found);
      });
    }
  });
});
