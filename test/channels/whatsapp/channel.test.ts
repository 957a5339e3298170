import { expect } from "chai";
import type { SendOutcome } from "../../../src/channels/channel.ts";
import { whatsappChannel } from "../../../src/channels/whatsapp/channel.ts";
import { answers, type Behaviour } from "../../support/servers/channelServer.ts";
import {
  type ChannelScript,
  describeChannel,
  describeOutcomes,
  KEY,
  kindOf,
  type Outcome,
  send,
  TEXT,
} from "../describeChannel.ts";

const TOKEN = "EAAwhatsappSecretToken";
const NUMBER = "106540352242922";
const TO = "4915112345678";

/** An error response of the Graph API whose text contains secrets. */
const refuses = (status: number, code: unknown, more: object = {}): Behaviour =>
  answers(status, {
    error: {
      message: `(#${code}) Malformed access token ${TOKEN}`,
      type: "OAuthException",
      code,
      error_data: { messaging_product: "whatsapp", details: `Param text is not valid: ${TEXT}` },
      fbtrace_id: "AbCdEf123",
      ...more,
    },
  });

const SCRIPT: ChannelScript = {
  title: "WhatsApp channel",
  usual: answers(200, {
    messaging_product: "whatsapp",
    contacts: [{ input: TO, wa_id: TO }],
    messages: [{ id: "wamid.HBgN" }],
  }),
  channelAt: (apiUrl) => whatsappChannel({ apiUrl, accessToken: TOKEN, phoneNumberId: NUMBER }),
  to: TO,
  secrets: [TOKEN],
  style: { dialect: "whatsapp", limit: 4_096, unit: "utf16" },
  idempotentForMs: 0,
  invalidRecipients: ["", "anna", "0151 12345678", "+49", "1234567890123456", "me@example.com", "49151/12345678"],
  invalidRecipientReason: /country code/,
  failingChecks: [
    ["an invalid token", refuses(401, 190), /401 \(190\).*token/],
    ["a server that is not Meta's", answers(200, "<html>"), /answered 200/],
    ["an answer without a number", answers(200, { messages: [{ id: "wamid.1" }] }), /contains no number/],
  ],
};

describeChannel(SCRIPT, (fixture) => {
  const { server } = fixture;

  it("sends the message with its key for webhooks", async () => {
    const result = await send(fixture);

    expect(result).to.deep.equal({ kind: "sent", id: "wamid.HBgN" });
    const [{ method, path, headers, body } = expect.fail("nothing was sent")] = server.requests;
    expect({ method, path, body }).to.deep.equal({
      method: "POST",
      path: `/v26.0/${NUMBER}/messages`,
      body: {
        messaging_product: "whatsapp",
        recipient_type: "individual",
        to: TO,
        type: "text",
        text: { body: TEXT, preview_url: false },
        biz_opaque_callback_data: KEY,
      },
    });
    expect(headers.authorization).to.equal(`Bearer ${TOKEN}`);
    expect(headers["content-type"]).to.match(/^application\/json/);
  });

  it("sends plain text unchanged, as WhatsApp's marks cannot be escaped", async () => {
    const result = await send(fixture, { plain: true });

    expect(result.kind).to.equal("sent");
    expect(server.requests[0]?.body.text).to.deep.equal({ body: TEXT, preview_url: false });
  });

  for (const to of [TO, `+${TO}`, "+49 151 123-456-78", " +49 (151) 12345678 "]) {
    it(`sends to ${JSON.stringify(to)}`, async () => {
      const result = await send(fixture, { to });

      expect(result.kind).to.equal("sent");
      expect(server.requests[0]?.body.to).to.equal(TO);
    });
  }

  for (const to of ["+49 (0)151 1234567", "49( 0 )1511234567"]) {
    it(`returns gone for ${to}, which has a trunk zero, and sends no request`, async () => {
      const result = await send(fixture, { to });

      expect(result.kind).to.equal("gone");
      expect(kindOf(result).reason).to.include("(0)");
      expect(server.requests).to.deep.equal([]);
    });
  }

  const codes: [SendOutcome["kind"], [code: number, status: number][]][] = [
    [
      "authentication",
      [
        [0, 401],
        [3, 500],
        [10, 403],
        [33, 400],
        [190, 401],
        [200, 403],
        [299, 403],
        [368, 403],
        [131005, 403],
        [131031, 403],
        [131037, 400],
        [131042, 400],
        [131045, 500],
        [133010, 400],
      ],
    ],
    [
      "gone",
      [
        [130472, 400],
        [130497, 403],
        [131021, 400],
        [131026, 400],
        [131030, 400],
        [131047, 400],
        [131049, 400],
        [131050, 400],
      ],
    ],
    [
      "content",
      [
        [100, 400],
        [131008, 400],
        [131009, 400],
        [131051, 400],
        [135000, 400],
        [135000, 403],
        [135000, 404],
        [135000, 413],
        [135000, 422],
      ],
    ],
    [
      "transient",
      [
        [1, 400],
        [2, 503],
        [131000, 500],
        [131016, 500],
        [131057, 500],
        [133016, 400],
        [199, 500],
        [135000, 302],
        [135000, 408],
        [135000, 500],
      ],
    ],
  ];
  describeOutcomes(
    fixture,
    codes.flatMap(([kind, list]) =>
      list.map(([code, status]): Outcome => {
        const reason = new RegExp(`^WhatsApp answered ${status} \\(${code}\\).*\\.$`);
        return [`code ${code} with status ${status}`, refuses(status, code), { kind }, reason];
      }),
    ),
  );

  it("classifies by the code rather than the status", async () => {
    server.script(refuses(200, 131026), refuses(500, 190), refuses(401, 131000), refuses(200, 999_999));

    const kinds = [await send(fixture), await send(fixture), await send(fixture), await send(fixture)].map(
      ({ kind }) => kind,
    );

    expect(kinds).to.deep.equal(["gone", "authentication", "transient", "transient"]);
  });

  it("classifies by the status if the error has no code", async () => {
    server.script(refuses(401, undefined), refuses(500, "190"), answers(400, { error: TEXT }));

    const kinds = [await send(fixture), await send(fixture), await send(fixture)].map(({ kind }) => kind);

    expect(kinds).to.deep.equal(["authentication", "transient", "transient"]);
  });

  it("explains the 24-hour window in the reason", async () => {
    server.script(refuses(400, 131047));

    expect(kindOf(await send(fixture)).reason).to.match(/24 hours have passed.*template/);
  });

  it("returns authentication for a sending number that the token may not use", async () => {
    server.script(refuses(400, 100, { type: "GraphMethodException", error_subcode: 33 }));

    const result = await send(fixture);

    expect(result.kind).to.equal("authentication");
    expect(kindOf(result).reason).to.include("phoneNumberId");
  });

  const limits: [string, Behaviour, "channel" | "recipient", number | null][] = [
    ["the pair of sender and recipient (131056)", refuses(400, 131056), "recipient", 6_000],
    ["the number (130429)", refuses(429, 130429), "channel", null],
    ["the app (4)", refuses(400, 4), "channel", null],
    ["the business account (80007)", refuses(429, 80007), "channel", null],
    ["spam (131048)", refuses(429, 131048), "channel", 3_600_000],
    ["an unknown kind, by its status", refuses(429, 999_999), "channel", null],
  ];
  describeOutcomes(
    fixture,
    limits.map(([title, behaviour, scope, retryAfterMs]): Outcome => {
      const expected = { kind: "rate-limited", scope, retryAfterMs } as const;
      return [`the limit of ${title}`, behaviour, expected];
    }),
  );

  it("uses a Retry-After header, although WhatsApp documents none", async () => {
    server.script((response, request) => {
      response.setHeader("Retry-After", "42");
      return refuses(400, 131056)(response, request);
    });

    expect(await send(fixture)).to.deep.include({ kind: "rate-limited", retryAfterMs: 42_000 });
  });

  it("check returns the sending number", async () => {
    server.script(answers(200, { display_phone_number: "+49 151 00000000", id: NUMBER }));

    const found = await fixture.channel.check(new AbortController().signal);

    expect(found).to.deep.equal({ ok: true, detail: "sends as +49 151 00000000" });
    const [{ method, path, headers, text } = expect.fail("nothing was asked")] = server.requests;
    expect({ method, path, text }).to.deep.equal({
      method: "GET",
      path: `/v26.0/${NUMBER}?fields=display_phone_number`,
      text: "",
    });
    expect(headers.authorization).to.equal(`Bearer ${TOKEN}`);
  });
});
