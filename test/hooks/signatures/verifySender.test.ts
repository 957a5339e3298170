import { expect } from "chai";
import fc from "fast-check";
import { type SenderAuth, type SenderVerification, verifySender } from "../../../src/hooks/signatures/verifySender.ts";
import {
  AT,
  BODY,
  check,
  type Encoding,
  type Headers,
  hmac,
  KEY,
  refused,
  SCHEMES,
  SECRET,
  STAMPED_SCHEMES,
  STANDARD,
  STRIPE,
} from "./senders.ts";

describe("verifySender with a token", () => {
  const TOKEN = "a token of this sender alone";
  const auth: SenderAuth = { type: "token", token: TOKEN };
  const cases: [title: string, token: string | undefined, expected: SenderVerification][] = [
    ["accepts the sender's token", TOKEN, { ok: true, replayKey: null }],
    ["refuses another sender's token", "a token of another sender", refused("wrong")],
    ["refuses a wrong token of the same length", TOKEN.replace("a", "b"), refused("wrong")],
    ["refuses the token without its last character", TOKEN.slice(0, -1), refused("wrong")],
    ["refuses the token with one more character", `${TOKEN}x`, refused("wrong")],
    ["refuses a token of garbage", "\u0000ÿ💥", refused("wrong")],
    ["reports an empty token as missing", "", refused("missing")],
    ["reports an absent token as missing", undefined, refused("missing")],
  ];
  for (const [title, token, expected] of cases) {
    it(title, () => {
      const request = { headers: {}, tokens: token ? [token] : [], rawBody: Buffer.from(BODY), now: new Date() };

      expect(verifySender(auth, request)).to.deep.equal(expected);
    });
  }

  it("does not accept a token from a sender that must sign", () => {
    for (const [, { auth: signed }] of SCHEMES) {
      const request = { headers: {}, tokens: [SECRET], rawBody: Buffer.from(BODY), now: new Date(AT * 1000) };

      expect(verifySender(signed, request)).to.deep.equal(refused("missing"));
    }
  });
});

describe("verifySender with a signature", () => {
  for (const [name, { auth, signature, sign }] of SCHEMES) {
    describe(name, () => {
      const signed = sign()[signature] as string;
      const [digits = "", padding = ""] = (/([\w+/-]+)(=?)$/.exec(signed) ?? []).slice(1);
      const before = signed.slice(0, -(digits + padding).length);

      it("accepts its sender's message", () => {
        expect(check(auth, sign()).ok).to.equal(true);
      });

      it("accepts a signed empty body", () => {
        expect(check(auth, sign(""), { body: "" }).ok).to.equal(true);
      });

      it("accepts a signed body that is not valid UTF-8", () => {
        const body = Buffer.from([0xff, 0x00, 0xc3, 0x28]);

        expect(check(auth, sign(body), { body }).ok).to.equal(true);
      });

      it("refuses a body in which any byte was changed", () => {
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
        it(`refuses a message with ${what}`, () => {
          expect(check(auth, sign(), { body })).to.deep.equal(refused("wrong"));
        });
      }

      it("refuses a signature made with another secret", () => {
        const secret = auth.type === "standard-webhooks" ? `${KEY.slice(0, -4)}AAAA` : "another secret";

        expect(check({ ...auth, secret } as SenderAuth, sign())).to.deep.equal(refused("wrong"));
      });

      for (const header of Object.keys(sign())) {
        it(`reports a missing or empty ${header} header`, () => {
          for (const value of [undefined, ""]) {
            expect(check(auth, { ...sign(), [header]: value })).to.deep.equal(refused("missing"));
          }
        });

        it(`refuses a repeated ${header} header`, () => {
          const value = sign()[header] as string;

          expect(check(auth, { ...sign(), [header]: [value, value] })).to.deep.equal(refused("malformed"));
        });
      }

      const damaged: [what: string, value: string][] = [
        ["with one digit less", before + digits.slice(0, -1) + padding],
        ["with two digits less", before + digits.slice(0, -2) + padding],
        ["with one digit more", `${before}a${digits}${padding}`],
        ["with two digits more", `${before}ab${digits}${padding}`],
        ["cut in half", before + digits.slice(0, digits.length / 2)],
        ["with a space inside", `${before}${digits.slice(0, 4)} ${digits.slice(4)}${padding}`],
        ["with letters outside its alphabet", `${before}${digits.slice(0, -3)}ü€ÿ${padding}`],
        ["with a control character", `${before}\u0000${digits.slice(1)}${padding}`],
        ["of nothing but garbage", "\u0000ÿ💥"],
        ["of a single digit", `${before}0`],
      ];
      for (const [what, value] of damaged) {
        it(`refuses a signature ${what}`, () => {
          expect(check(auth, { ...sign(), [signature]: value })).to.deep.equal(refused("malformed"));
        });
      }

      it("refuses every other text as a signature", () => {
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

      it("refuses a signature in which any digit was changed", () => {
        fc.assert(
          fc.property(fc.nat(digits.length - 3), (i) => {
            const digit = digits[i] === "0" ? "1" : "0";
            const value = before + digits.slice(0, i) + digit + digits.slice(i + 1) + padding;

            expect(check(auth, { ...sign(), [signature]: value })).to.deep.equal(refused("wrong"));
          }),
        );
      });

      it("throws for an empty secret", () => {
        expect(() => check({ ...auth, secret: "" } as SenderAuth, sign())).to.throw(/must not be empty/);
      });
    });
  }

  for (const [name, { auth, signature, sign }] of SCHEMES.filter(([one]) => one !== "standard-webhooks")) {
    it(`accepts the hexadecimal digits of ${name} in any case`, () => {
      const value = (sign()[signature] as string).replace(/[0-9a-f]{64}/, (digits) => digits.toUpperCase());

      expect(check(auth, { ...sign(), [signature]: value }).ok).to.equal(true);
    });
  }

  for (const [name, { auth, signature, sign }] of SCHEMES) {
    if (name === "stripe" || name === "standard-webhooks") continue; // their headers are lists
    it(`refuses two headers of ${name} that were joined into one`, () => {
      const value = sign()[signature];

      expect(check(auth, { ...sign(), [signature]: `${value}, ${value}` })).to.deep.equal(refused("malformed"));
    });
  }

  it("throws for an empty token", () => {
    const request = { headers: {}, tokens: [], rawBody: Buffer.from(BODY), now: new Date() };

    expect(() => verifySender({ type: "token", token: "" }, request)).to.throw(/must not be empty/);
  });
});

describe("The replay key", () => {
  const keyOf = (auth: SenderAuth, headers: Headers, options?: Parameters<typeof check>[2]): string | null => {
    const verification = check(auth, headers, options);
    if (!verification.ok) throw new Error(`refused as ${verification.reason}`);
    return verification.replayKey;
  };

  for (const [name, { auth, sign }] of SCHEMES.filter(([, { timestamp }]) => timestamp === undefined)) {
    it(`of ${name}, which signs no time, differs for another body and is the same for a message that arrives days later`, () => {
      const [first, other] = [keyOf(auth, sign()), keyOf(auth, sign("{}"), { body: "{}" })];

      expect(other).to.not.equal(first);
      expect(keyOf(auth, sign(), { at: AT + 500_000 })).to.equal(first);
    });
  }

  for (const [name, { auth, sign }] of SCHEMES) {
    it(`of ${name} begins with the type and contains neither secret nor signature`, () => {
      const key = keyOf(auth, sign()) as string;

      expect(key).to.match(new RegExp(`^${auth.type}:[\\w-]+$`));
      expect(key.length).to.be.below(200);
      const encodings: Encoding[] = ["hex", "base64", "base64url"];
      const signatures = encodings.flatMap((encoding) =>
        [BODY, `${AT}.${BODY}`].map((text) => hmac("sha256", encoding, text)),
      );
      for (const value of [SECRET, KEY, ...signatures]) expect(key).not.to.include(value);
    });

    it(`of ${name} is the same for a replay that arrives later`, () => {
      expect(keyOf(auth, sign(), { at: AT + 200 })).to.equal(keyOf(auth, sign()));
    });
  }

  for (const [name, { auth, sign }] of STAMPED_SCHEMES.filter(([one]) => one !== "standard-webhooks")) {
    it(`of ${name} differs for another body and for another time`, () => {
      const keys = [keyOf(auth, sign()), keyOf(auth, sign("{}"), { body: "{}" }), keyOf(auth, sign(BODY, AT + 1))];

      expect(new Set(keys).size).to.equal(3);
    });
  }

  it("of Standard Webhooks depends on the message's id alone and is the same for each retry", () => {
    expect(keyOf(STANDARD.auth, STANDARD.sign(BODY, AT + 60))).to.equal("standard-webhooks:msg_1");
  });

  it("does not depend on how the signature is written or on what stands beside it", () => {
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
