import { expect } from "chai";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { check, KEY } from "./senders.ts";

describe("verifySender with the senders' published examples", () => {
  it("accepts GitHub's example", () => {
    const headers = {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    };

    const verification = check({ type: "github", secret: "It's a Secret to Everybody" }, headers, {
      body: "Hello, World!",
    });

    expect(verification.ok).to.equal(true);
  });

  it("accepts Slack's example", () => {
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };

    const verification = check({ type: "slack", secret: "8f742231b10e8888abcd99yyyzzz85a5" }, headers, {
      body,
      at: 1531420618,
    });

    expect(verification.ok).to.equal(true);
  });

  for (const family of ["webhook", "svix"]) {
    it(`accepts the Standard Webhooks example in the headers ${family}-…`, () => {
      const headers = {
        [`${family}-id`]: "msg_p5jXN8AQM9LWM0D4loKWxJek",
        [`${family}-timestamp`]: "1614265330",
        [`${family}-signature`]: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      };

      const verification = check({ type: "standard-webhooks", secret: KEY }, headers, {
        body: '{"test": 2432232314}',
        at: 1614265330,
      });

      expect(verification).to.deep.equal({ ok: true, replayKey: "standard-webhooks:msg_p5jXN8AQM9LWM0D4loKWxJek" });
    });
  }

  // The signatures come from generateTestHeaderString of Stripe's library (stripe 23.1.0 from npm), which is too large to depend on.
  const stripe: [secret: string, body: string, at: number, signature: string][] = [
    [
      "whsec_test_secret",
      '{\n  "id": "evt_test_webhook",\n  "object": "event"\n}',
      1700000000,
      "4f1cd7feda9826e746b7d482c4badebb657398df1099e1046364f6196a230150",
    ],
    [
      "whsec_test_secret",
      '{"id":"evt_2","object":"event","data":{"name":"Zoë 💶"}}',
      1700000123,
      "0a13182bfeb585e88584b55ada1281323c21b0f8bdf8961ebda5947c562201f4",
    ],
    [
      "plain secret, ümläut",
      '{"id":"evt_3","object":"event"}',
      1700000456,
      "6b06f846a51f34933cbd4ed0e1ab2ff7e134fcaa8ff5351a093b8f1e46c4f65b",
    ],
  ];
  for (const [secret, body, at, signature] of stripe) {
    it(`accepts what Stripe's library signs at ${at}`, () => {
      const headers = { "stripe-signature": `t=${at},v1=${signature}` };

      expect(check({ type: "stripe", secret }, headers, { body, at }).ok).to.equal(true);
    });
  }

  it("accepts whatever the Standard Webhooks library signs", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.uuid(), fc.nat(2_000_000_000), (body, id, at) => {
        const signature = new Webhook(KEY).sign(id, new Date(at * 1000), body);
        const headers = { "webhook-id": id, "webhook-timestamp": `${at}`, "webhook-signature": signature };

        const verification = check({ type: "standard-webhooks", secret: KEY }, headers, { body, at });

        expect(verification).to.deep.equal({ ok: true, replayKey: `standard-webhooks:${id}` });
      }),
    );
  });
});
