import { createHmac } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { checkSender, type Proof, type SenderAuth, type SenderRequest } from "../../src/hooks/senderProof.ts";

type Headers = SenderRequest["headers"];
type Refusal = Extract<Proof, { ok: false }>["reason"];

const SECRET = "a secret that only two know";
const KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEY_BYTES = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
const BODY = '{"id":"evt_1","text":"Grüße 💶"}';
const AT = 1_700_000_000;

type Encoding = "hex" | "base64" | "base64url";

/** The HMAC of the texts, one behind the other. */
const hmac = (algorithm: string, encoding: Encoding, ...texts: (string | Buffer)[]) =>
  hmacWith(SECRET, algorithm, encoding, ...texts);

function hmacWith(key: string | Buffer, algorithm: string, encoding: Encoding, ...texts: (string | Buffer)[]): string {
  const hash = createHmac(algorithm, key);
  for (const text of texts) hash.update(text);
  return hash.digest(encoding);
}

const check = (auth: SenderAuth, headers: Headers, { body = BODY as string | Buffer, at = AT } = {}): Proof =>
  checkSender(auth, { headers, token: undefined, rawBody: Buffer.from(body), now: new Date(at * 1000) });

const refused = (reason: Refusal): Proof => ({ ok: false, reason });

interface Scheme {
  readonly auth: SenderAuth;
  readonly signature: string;
  readonly timestamp?: string;
  sign(body?: string | Buffer, at?: number): Record<string, string>;
}

const GITHUB: Scheme = {
  auth: { type: "github", secret: SECRET },
  signature: "x-hub-signature-256",
  sign: (body = BODY) => ({ "x-hub-signature-256": `sha256=${hmac("sha256", "hex", body)}` }),
};
const STRIPE: Scheme = {
  auth: { type: "stripe", secret: SECRET },
  signature: "stripe-signature",
  timestamp: "stripe-signature",
  sign: (body = BODY, at = AT) => ({ "stripe-signature": `t=${at},v1=${hmac("sha256", "hex", `${at}.`, body)}` }),
};
const SLACK: Scheme = {
  auth: { type: "slack", secret: SECRET },
  signature: "x-slack-signature",
  timestamp: "x-slack-request-timestamp",
  sign: (body = BODY, at = AT) => ({
    "x-slack-request-timestamp": `${at}`,
    "x-slack-signature": `v0=${hmac("sha256", "hex", `v0:${at}:`, body)}`,
  }),
};
const STANDARD: Scheme = {
  auth: { type: "standard-webhooks", secret: KEY },
  signature: "webhook-signature",
  timestamp: "webhook-timestamp",
  sign: (body = BODY, at = AT) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": `${at}`,
    "webhook-signature": `v1,${hmacWith(KEY_BYTES, "sha256", "base64", `msg_1.${at}.`, body)}`,
  }),
};
const PLAIN: Scheme = {
  auth: { type: "hmac", secret: SECRET, header: "X-Signature" },
  signature: "x-signature",
  sign: (body = BODY) => ({ "x-signature": hmac("sha256", "hex", body) }),
};
const STAMPED: Scheme = {
  auth: { type: "hmac", secret: SECRET, header: "X-Signature", prefix: "v1=", timestampHeader: "X-Timestamp" },
  signature: "x-signature",
  timestamp: "x-timestamp",
  sign: (body = BODY, at = AT) => ({
    "x-timestamp": `${at}`,
    "x-signature": `v1=${hmac("sha256", "hex", `${at}.`, body)}`,
  }),
};

const SCHEMES: [string, Scheme][] = Object.entries({
  github: GITHUB,
  stripe: STRIPE,
  slack: SLACK,
  "standard-webhooks": STANDARD,
  hmac: PLAIN,
  "hmac with a time stamp": STAMPED,
});
const STAMPED_SCHEMES = SCHEMES.filter(([, { timestamp }]) => timestamp !== undefined);

describe("checkSender and what the senders publish", () => {
  it("takes GitHub's example", () => {
    const headers = {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    };

    const proof = check({ type: "github", secret: "It's a Secret to Everybody" }, headers, { body: "Hello, World!" });

    expect(proof).to.deep.equal({ ok: true, replayKey: null });
  });

  it("takes Slack's example", () => {
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };

    const proof = check({ type: "slack", secret: "8f742231b10e8888abcd99yyyzzz85a5" }, headers, {
      body,
      at: 1531420618,
    });

    expect(proof.ok).to.equal(true);
  });

  for (const family of ["webhook", "svix"]) {
    it(`takes the Standard Webhooks example in the headers ${family}-…`, () => {
      const headers = {
        [`${family}-id`]: "msg_p5jXN8AQM9LWM0D4loKWxJek",
        [`${family}-timestamp`]: "1614265330",
        [`${family}-signature`]: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      };

      const proof = check({ type: "standard-webhooks", secret: KEY }, headers, {
        body: '{"test": 2432232314}',
        at: 1614265330,
      });

      expect(proof).to.deep.equal({ ok: true, replayKey: "standard-webhooks:msg_p5jXN8AQM9LWM0D4loKWxJek" });
    });
  }

  // Made by generateTestHeaderString of Stripe's own library (stripe 23.1.0 from npm), which is too large to depend on.
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
    it(`takes what Stripe's library signs at ${at}`, () => {
      const headers = { "stripe-signature": `t=${at},v1=${signature}` };

      expect(check({ type: "stripe", secret }, headers, { body, at }).ok).to.equal(true);
    });
  }

  it("takes whatever the Standard Webhooks library signs", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.uuid(), fc.nat(2_000_000_000), (body, id, at) => {
        const signature = new Webhook(KEY).sign(id, new Date(at * 1000), body);
        const headers = { "webhook-id": id, "webhook-timestamp": `${at}`, "webhook-signature": signature };

        const proof = check({ type: "standard-webhooks", secret: KEY }, headers, { body, at });

        expect(proof).to.deep.equal({ ok: true, replayKey: `standard-webhooks:${id}` });
      }),
    );
  });
});

describe("checkSender with a token", () => {
  const TOKEN = "a token of this sender alone";
  const auth: SenderAuth = { type: "token", token: TOKEN };
  const cases: [what: string, token: string | undefined, proof: Proof][] = [
    ["takes the token", TOKEN, { ok: true, replayKey: null }],
    ["refuses another one", "a token of another sender", refused("wrong")],
    ["refuses one of the same length", TOKEN.replace("a", "b"), refused("wrong")],
    ["refuses the beginning of it", TOKEN.slice(0, -1), refused("wrong")],
    ["refuses more than it", `${TOKEN}x`, refused("wrong")],
    ["refuses garbage", "\u0000ÿ💥", refused("wrong")],
    ["misses it where it is empty", "", refused("missing")],
    ["misses it where there is none", undefined, refused("missing")],
  ];
  for (const [what, token, proof] of cases) {
    it(what, () => {
      const request = { headers: {}, token, rawBody: Buffer.from(BODY), now: new Date() };

      expect(checkSender(auth, request)).to.deep.equal(proof);
    });
  }

  it("does not take the token for a signature", () => {
    for (const [, { auth: signed }] of SCHEMES) {
      const request = { headers: {}, token: SECRET, rawBody: Buffer.from(BODY), now: new Date(AT * 1000) };

      expect(checkSender(signed, request)).to.deep.equal(refused("missing"));
    }
  });
});

describe("checkSender with a signature", () => {
  for (const [name, { auth, signature, sign }] of SCHEMES) {
    describe(name, () => {
      const signed = sign()[signature] as string;
      const [digits = "", padding = ""] = (/([\w+/-]+)(=?)$/.exec(signed) ?? []).slice(1);
      const before = signed.slice(0, -(digits + padding).length);

      it("takes its sender's message", () => {
        expect(check(auth, sign()).ok).to.equal(true);
      });

      it("takes an empty body that is signed", () => {
        expect(check(auth, sign(""), { body: "" }).ok).to.equal(true);
      });

      it("takes a body that is no text", () => {
        const body = Buffer.from([0xff, 0x00, 0xc3, 0x28]);

        expect(check(auth, sign(body), { body }).ok).to.equal(true);
      });

      it("refuses a body of which any byte is another", () => {
        fc.assert(
          fc.property(
            fc.string({ unit: "grapheme", minLength: 1 }),
            fc.nat(),
            fc.integer({ min: 1, max: 255 }),
            (body, where, flip) => {
              const bytes = Buffer.from(body);
              const i = where % bytes.length;
              bytes[i] = (bytes[i] as number) ^ flip;

              expect(check(auth, sign(body)).ok).to.equal(body === BODY);
              expect(check(auth, sign(body), { body: bytes })).to.deep.equal(refused("wrong"));
            },
          ),
        );
      });

      for (const [what, body] of [
        ["a longer body", `${BODY} `],
        ["a shorter body", BODY.slice(0, -1)],
        ["no body", ""],
      ] as const) {
        it(`refuses ${what}`, () => {
          expect(check(auth, sign(), { body })).to.deep.equal(refused("wrong"));
        });
      }

      it("refuses another secret's signature", () => {
        const secret = auth.type === "standard-webhooks" ? `${KEY.slice(0, -4)}AAAA` : "another secret";

        expect(check({ ...auth, secret } as SenderAuth, sign())).to.deep.equal(refused("wrong"));
      });

      for (const header of Object.keys(sign())) {
        it(`misses ${header}`, () => {
          for (const value of [undefined, ""]) {
            expect(check(auth, { ...sign(), [header]: value })).to.deep.equal(refused("missing"));
          }
        });

        it(`refuses ${header} given twice`, () => {
          const value = sign()[header] as string;

          expect(check(auth, { ...sign(), [header]: [value, value] })).to.deep.equal(refused("malformed"));
        });
      }

      const damaged: [what: string, value: string][] = [
        ["one digit less", before + digits.slice(0, -1) + padding],
        ["two digits less", before + digits.slice(0, -2) + padding],
        ["one digit more", `${before}a${digits}${padding}`],
        ["two digits more", `${before}ab${digits}${padding}`],
        ["half of it", before + digits.slice(0, digits.length / 2)],
        ["a space within", `${before}${digits.slice(0, 4)} ${digits.slice(4)}${padding}`],
        ["letters of no alphabet", `${before}${digits.slice(0, -3)}ü€ÿ${padding}`],
        ["a control character", `${before}\u0000${digits.slice(1)}${padding}`],
        ["nothing but garbage", "\u0000ÿ💥"],
        ["a digit", `${before}0`],
      ];
      for (const [what, value] of damaged) {
        it(`refuses as a signature ${what}`, () => {
          expect(check(auth, { ...sign(), [signature]: value })).to.deep.equal(refused("malformed"));
        });
      }

      it("refuses any other text as a signature", () => {
        const text = fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string().map((one) => before + one),
        );

        fc.assert(
          fc.property(text, (value) => {
            fc.pre(value !== signed);

            expect(check(auth, { ...sign(), [signature]: value }).ok).to.equal(false);
          }),
        );
      });

      it("refuses a signature of which any digit is another", () => {
        fc.assert(
          fc.property(fc.nat(digits.length - 3), (i) => {
            const digit = digits[i] === "0" ? "1" : "0";
            const value = before + digits.slice(0, i) + digit + digits.slice(i + 1) + padding;

            expect(check(auth, { ...sign(), [signature]: value })).to.deep.equal(refused("wrong"));
          }),
        );
      });

      it("cannot be set up with an empty secret", () => {
        expect(() => check({ ...auth, secret: "" } as SenderAuth, sign())).to.throw(/must not be empty/);
      });
    });
  }

  for (const [name, { auth, signature, sign }] of SCHEMES.filter(([one]) => one !== "standard-webhooks")) {
    it(`takes the hexadecimal digits of ${name} in any case`, () => {
      const value = (sign()[signature] as string).replace(/[0-9a-f]{64}/, (digits) => digits.toUpperCase());

      expect(check(auth, { ...sign(), [signature]: value }).ok).to.equal(true);
    });
  }

  for (const [name, { auth, signature, sign }] of SCHEMES) {
    if (name === "stripe" || name === "standard-webhooks") continue; // their headers are lists
    it(`refuses two headers of ${name} that were joined to one`, () => {
      const value = sign()[signature];

      expect(check(auth, { ...sign(), [signature]: `${value}, ${value}` })).to.deep.equal(refused("malformed"));
    });
  }

  it("cannot be set up with an empty token", () => {
    const request = { headers: {}, token: "", rawBody: Buffer.from(BODY), now: new Date() };

    expect(() => checkSender({ type: "token", token: "" }, request)).to.throw(/must not be empty/);
  });
});

describe("checkSender with a signed time stamp", () => {
  for (const [name, { auth, timestamp = "", sign }] of STAMPED_SCHEMES) {
    describe(name, () => {
      const ages: [what: string, seconds: number, toleranceSeconds: number | undefined, ok: boolean][] = [
        ["five minutes old", 300, undefined, true],
        ["five minutes ahead", -300, undefined, true],
        ["a second too old", 301, undefined, false],
        ["a second too far ahead", -301, undefined, false],
        ["a year old", 31_536_000, undefined, false],
        ["older than a tolerance of its own", 11, 10, false],
        ["further ahead than a tolerance of its own", -11, 10, false],
        ["within a tolerance of its own", 3_600, 3_600, true],
        ["of this second, with no tolerance", 0, 0, true],
      ];
      for (const [what, seconds, toleranceSeconds, ok] of ages) {
        it(`${ok ? "takes" : "refuses"} a message ${what}`, () => {
          const proof = check({ ...auth, toleranceSeconds } as SenderAuth, sign(), { at: AT + seconds });

          expect(ok ? proof.ok : proof).to.deep.equal(ok || refused("expired"));
        });
      }

      it("counts whole seconds, as the senders do", () => {
        expect(check(auth, sign(), { at: AT + 300.9 }).ok).to.equal(true);
      });

      it("refuses a time stamp that was altered", () => {
        const headers = sign();
        headers[timestamp] = (headers[timestamp] as string).replace(`${AT}`, `${AT + 1}`);

        expect(check(auth, headers)).to.deep.equal(refused("wrong"));
      });

      const stamps: [stamp: string, reason: Refusal][] = [
        ["soon", "malformed"],
        ["-1700000000", "malformed"],
        ["+1700000000", "malformed"],
        ["1700000000.5", "malformed"],
        ["1.7e9", "malformed"],
        ["0x6553f100", "malformed"],
        [" 1700000000", "malformed"],
        ["1700000000\n", "malformed"],
        ["１７００００００００", "malformed"],
        ["2023-11-14T22:13:20Z", "malformed"],
        ["0", "expired"],
        ["9".repeat(400), "expired"],
        ["01700000000", "wrong"],
      ];
      for (const [stamp, reason] of stamps) {
        it(`refuses the time stamp ${JSON.stringify(stamp.slice(0, 30))} as ${reason}`, () => {
          const headers = sign();
          headers[timestamp] = (headers[timestamp] as string).replace(`${AT}`, stamp);

          expect(check(auth, headers)).to.deep.equal(refused(reason));
        });
      }
    });
  }

  it("takes an hmac sender's time stamp in milliseconds", () => {
    const ms = AT * 1000 + 789;
    const headers = { "x-timestamp": `${ms}`, "x-signature": `v1=${hmac("sha256", "hex", `${ms}.${BODY}`)}` };

    expect(check(STAMPED.auth, headers, { at: AT + 300 }).ok).to.equal(true);
    expect(check(STAMPED.auth, headers, { at: AT + 301 })).to.deep.equal(refused("expired"));
  });

  for (const [name, { auth, sign }] of [
    ["stripe", STRIPE],
    ["slack", SLACK],
    ["standard-webhooks", STANDARD],
  ] as const) {
    it(`does not take milliseconds from ${name}`, () => {
      expect(check(auth, sign(BODY, AT * 1000))).to.deep.equal(refused("expired"));
    });
  }
});

describe("checkSender with several signatures", () => {
  const right = hmac("sha256", "hex", `${AT}.${BODY}`);
  const wrong = hmacWith("the secret of last year", "sha256", "hex", `${AT}.${BODY}`);
  const stripe: [header: string, proof: Proof["ok"] | Refusal][] = [
    [`t=${AT},v1=${wrong},v1=${right}`, true],
    [`t=${AT},v1=${right},v1=${wrong}`, true],
    [`v1=${right},t=${AT}`, true],
    [`t=${AT},v1=${right},v0=${wrong}`, true],
    [`t=${AT},v1=junk,v1=${right},v1`, true],
    [`t=${AT},v1=${wrong},v1=${wrong}`, "wrong"],
    [`t=${AT},v1=${wrong},v0=${right}`, "wrong"],
    [`t=${AT},v0=${right}`, "malformed"],
    [`t=${AT}`, "malformed"],
    [`t=,v1=${right}`, "malformed"],
    [`v1=${right}`, "malformed"],
    [`t=${AT},t=${AT},v1=${right}`, "malformed"],
    [`t=${AT};v1=${right}`, "malformed"],
    [right, "malformed"],
    [",=,", "malformed"],
  ];
  for (const [header, proof] of stripe) {
    const shown = header.replaceAll(right, "RIGHT").replaceAll(wrong, "WRONG");
    it(`answers stripe's ${shown} with ${proof}`, () => {
      const found = check(STRIPE.auth, { "stripe-signature": header });

      expect(found.ok ? true : found.reason).to.equal(proof);
    });
  }

  const fits = (STANDARD.sign()["webhook-signature"] as string).slice(3);
  const other = hmac("sha256", "base64", "something else");
  const standard: [header: string, proof: Proof["ok"] | Refusal][] = [
    [`v1,${other} v1,${fits}`, true],
    [`v1,${fits} v1,${other}`, true],
    [`v1a,${other} v2,${other} v1,${fits}`, true],
    [`v1,junk  v1,${fits} v1`, true],
    [`v1,${other} v1,${other}`, "wrong"],
    [`v1,${other} v1a,${fits} v2,${fits}`, "wrong"],
    [`v1a,${fits}`, "malformed"],
    [`v1=${fits}`, "malformed"],
    [`V1,${fits}`, "malformed"],
    [fits, "malformed"],
  ];
  for (const [header, proof] of standard) {
    const shown = header.replaceAll(fits, "RIGHT").replaceAll(other, "WRONG");
    it(`answers the standard's ${shown} with ${proof}`, () => {
      const found = check(STANDARD.auth, { ...STANDARD.sign(), "webhook-signature": header });

      expect(found.ok ? true : found.reason).to.equal(proof);
    });
  }
});

describe("checkSender with Standard Webhooks", () => {
  it("signs the id", () => {
    expect(check(STANDARD.auth, { ...STANDARD.sign(), "webhook-id": "msg_2" })).to.deep.equal(refused("wrong"));
  });

  it("takes its own headers where both families are there, and mixes none", () => {
    const svix = { "svix-id": "msg_2", "svix-timestamp": "1", "svix-signature": "v1,x" };
    const { "webhook-id": _, ...withoutId } = STANDARD.sign();

    expect(check(STANDARD.auth, { ...STANDARD.sign(), ...svix }).ok).to.equal(true);
    expect(check(STANDARD.auth, { ...withoutId, ...svix })).to.deep.equal(refused("missing"));
  });

  const secrets: [what: string, secret: string, key: Buffer][] = [
    ["base64 behind whsec_", KEY, KEY_BYTES],
    ["base64 without whsec_", KEY.slice(6), KEY_BYTES],
    ["the key itself, which could be base64", KEY.slice(6), Buffer.from(KEY.slice(6))],
    ["the key itself", SECRET, Buffer.from(SECRET)],
    ["base64 with padding", `whsec_${Buffer.from(SECRET).toString("base64")}`, Buffer.from(SECRET)],
  ];
  for (const [what, secret, key] of secrets) {
    it(`takes as a secret ${what}`, () => {
      const signature = new Webhook(key, { format: "raw" }).sign("msg_1", new Date(AT * 1000), BODY);
      const headers = { ...STANDARD.sign(), "webhook-signature": signature };

      expect(check({ type: "standard-webhooks", secret }, headers).ok).to.equal(true);
    });
  }

  for (const secret of ["whsec_", "whsec_A", "whsec_a secret", "whsec_ü", "whsec_=="]) {
    it(`cannot be set up with the secret ${secret}`, () => {
      expect(() => check({ type: "standard-webhooks", secret }, STANDARD.sign())).to.throw(
        /must be base64 behind whsec_/,
      );
    });
  }

  it("never signs with the empty key that a short secret would decode to", () => {
    const signature = new Webhook(Buffer.from("A"), { format: "raw" }).sign("msg_1", new Date(AT * 1000), BODY);
    const empty = hmacWith("", "sha256", "base64", `msg_1.${AT}.${BODY}`);
    const answer = (value: string) =>
      check({ type: "standard-webhooks", secret: "A" }, { ...STANDARD.sign(), "webhook-signature": value }).ok;

    expect(answer(signature)).to.equal(true);
    expect(answer(`v1,${empty}`)).to.equal(false);
  });
});

describe("checkSender with an hmac of the sender's own kind", () => {
  const kinds: [algorithm: "sha1" | "sha256" | "sha512", encoding: "hex" | "base64" | "base64url", prefix: string][] = [
    ["sha1", "hex", "sha1="],
    ["sha1", "base64", ""],
    ["sha256", "base64", ""],
    ["sha256", "base64", "HMAC "],
    ["sha256", "base64url", "v1."],
    ["sha512", "hex", ""],
    ["sha512", "base64url", "sha512="],
  ];
  for (const [algorithm, encoding, prefix] of kinds) {
    const auth: SenderAuth = { type: "hmac", secret: SECRET, header: "X-Sig", algorithm, encoding, prefix };
    const digest = hmac(algorithm, encoding, BODY);

    it(`takes ${algorithm} in ${encoding} behind "${prefix}"`, () => {
      expect(check(auth, { "x-sig": prefix + digest })).to.deep.equal({ ok: true, replayKey: null });
    });

    it(`refuses other digests in place of ${algorithm} in ${encoding}`, () => {
      for (const other of ["sha1", "sha256", "sha512"].filter((one) => one !== algorithm)) {
        const value = prefix + hmac(other, encoding, BODY);

        expect(check(auth, { "x-sig": value })).to.deep.equal(refused("malformed"));
      }
    });

    if (prefix) {
      it(`wants the prefix "${prefix}" as it is`, () => {
        for (const other of ["", prefix.slice(1), ` ${prefix}`]) {
          expect(check(auth, { "x-sig": other + digest }).ok).to.equal(false);
        }
      });
    }
  }

  it("takes base64 with its padding and without", () => {
    const auth: SenderAuth = { type: "hmac", secret: SECRET, header: "x-sig", encoding: "base64" };
    const digest = hmac("sha256", "base64", BODY);

    expect(digest).to.match(/=$/);
    expect(check(auth, { "x-sig": digest }).ok).to.equal(true);
    expect(check(auth, { "x-sig": digest.replace("=", "") }).ok).to.equal(true);
  });

  it("does not take one alphabet of base64 for the other", () => {
    const body = "signs - and _";
    const url = hmac("sha256", "base64url", body);
    expect(url).to.match(/[-_]/);

    const auth: SenderAuth = { type: "hmac", secret: SECRET, header: "x-sig", encoding: "base64" };

    expect(check(auth, { "x-sig": url }, { body })).to.deep.equal(refused("malformed"));
  });

  it("signs no time stamp where none is set up", () => {
    expect(check(PLAIN.auth, STAMPED.sign())).to.deep.equal(refused("malformed"));
    expect(check(PLAIN.auth, PLAIN.sign(), { at: AT + 10_000_000 }).ok).to.equal(true);
  });

  it("wants the time stamp signed where one is set up", () => {
    const headers = { "x-timestamp": `${AT}`, "x-signature": `v1=${hmac("sha256", "hex", BODY)}` };

    expect(check(STAMPED.auth, headers)).to.deep.equal(refused("wrong"));
  });
});

describe("the replay key", () => {
  const keyOf = (auth: SenderAuth, headers: Headers, options?: Parameters<typeof check>[2]): string | null => {
    const proof = check(auth, headers, options);
    if (!proof.ok) throw new Error(`refused as ${proof.reason}`);
    return proof.replayKey;
  };

  for (const [name, { auth, sign }] of SCHEMES.filter(([, { timestamp }]) => timestamp === undefined)) {
    it(`is null for ${name}, which signs neither time nor id`, () => {
      expect(keyOf(auth, sign())).to.equal(null);
    });
  }

  for (const [name, { auth, sign }] of STAMPED_SCHEMES) {
    it(`of ${name} begins with the type and holds neither secret nor signature`, () => {
      const key = keyOf(auth, sign()) as string;

      expect(key).to.match(new RegExp(`^${auth.type}:[\\w-]+$`));
      expect(key.length).to.be.below(200);
      const encodings: Encoding[] = ["hex", "base64", "base64url"];
      const signatures = encodings.map((encoding) => hmac("sha256", encoding, `${AT}.${BODY}`));
      for (const value of [SECRET, KEY, ...signatures]) expect(key).not.to.include(value);
    });

    it(`of ${name} is the same for a replay, whenever it arrives`, () => {
      expect(keyOf(auth, sign(), { at: AT + 200 })).to.equal(keyOf(auth, sign()));
    });
  }

  for (const [name, { auth, sign }] of STAMPED_SCHEMES.filter(([one]) => one !== "standard-webhooks")) {
    it(`of ${name} is another for another body, and for another time`, () => {
      const keys = [keyOf(auth, sign()), keyOf(auth, sign("{}"), { body: "{}" }), keyOf(auth, sign(BODY, AT + 1))];

      expect(new Set(keys).size).to.equal(3);
    });
  }

  it("of Standard Webhooks is that of the message's id, whichever try it is", () => {
    expect(keyOf(STANDARD.auth, STANDARD.sign(BODY, AT + 60))).to.equal("standard-webhooks:msg_1");
  });

  it("does not change with the way the signature is written or what stands beside it", () => {
    const right = hmac("sha256", "hex", `${AT}.${BODY}`);
    const headers = [
      `t=${AT},v1=${right}`,
      `v1=${right},t=${AT}`,
      `t=${AT},v1=${right.toUpperCase()}`,
      `t=${AT},v1=${"0".repeat(64)},v1=${right}`,
      `t=${AT},v1=${right},x=1`,
    ];

    expect(new Set(headers.map((header) => keyOf(STRIPE.auth, { "stripe-signature": header }))).size).to.equal(1);
  });
});
