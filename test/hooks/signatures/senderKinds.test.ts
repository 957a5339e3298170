import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import type { SenderAuth, SenderVerification } from "../../../src/hooks/signatures/verifySender.ts";
import {
  AT,
  BODY,
  check,
  hmac,
  hmacWith,
  KEY,
  KEY_BYTES,
  PLAIN,
  type Refusal,
  refused,
  SECRET,
  STAMPED,
  STANDARD,
  STRIPE,
} from "./senders.ts";

describe("verifySender with several signatures", () => {
  const right = hmac("sha256", "hex", `${AT}.${BODY}`);
  const wrong = hmacWith("an old secret", "sha256", "hex", `${AT}.${BODY}`);
  const stripe: [header: string, expected: SenderVerification["ok"] | Refusal][] = [
    [`t=${AT},v1=${wrong},v1=${right}`, true],
    [`t=${AT},v1=${right},v1=${wrong}`, true],
    [`v1=${right},t=${AT}`, true],
    [`t=${AT},v1=${right},v0=${wrong}`, true],
    [`t=${AT},v1=junk,v1=${right},v1`, true],
    [`t=${AT}, v1=${right}`, true],
    [` t=${AT} ,\tv1=${right} , `, true],
    [`t= ${AT}, v1=${right}`, "malformed"],
    [`t=${AT}, t=${AT}, v1=${right}`, "malformed"],
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
  for (const [header, expected] of stripe) {
    const shown = header.replaceAll(right, "RIGHT").replaceAll(wrong, "WRONG");
    it(`answers Stripe's header ${shown} with ${expected}`, () => {
      const verification = check(STRIPE.auth, { "stripe-signature": header });

      expect(verification.ok ? true : verification.reason).to.equal(expected);
    });
  }

  const fits = (STANDARD.sign()["webhook-signature"] as string).slice(3);
  const other = hmac("sha256", "base64", "something else");
  const standard: [header: string, expected: SenderVerification["ok"] | Refusal][] = [
    [`v1,${other} v1,${fits}`, true],
    [`v1,${fits} v1,${other}`, true],
    [`v1a,${other} v2,${other} v1,${fits}`, true],
    [`v1,junk  v1,${fits} v1`, true],
    [`v1,${other}\tv1,${fits}`, true],
    [`v1,${fits}, v1,${other}`, true],
    [`v1, ${fits}`, true],
    [`v1,${other} v1,${other}`, "wrong"],
    [`v1,${other} v1a,${fits} v2,${fits}`, "wrong"],
    [`v1a,${fits}`, "malformed"],
    [`v1=${fits}`, "malformed"],
    [`V1,${fits}`, "malformed"],
    [fits, "malformed"],
  ];
  for (const [header, expected] of standard) {
    const shown = header.replaceAll(fits, "RIGHT").replaceAll(other, "WRONG");
    it(`answers the Standard Webhooks header ${shown} with ${expected}`, () => {
      const verification = check(STANDARD.auth, { ...STANDARD.sign(), "webhook-signature": header });

      expect(verification.ok ? true : verification.reason).to.equal(expected);
    });
  }
});

describe("verifySender with Standard Webhooks", () => {
  it("refuses a message whose id was replaced after signing", () => {
    expect(check(STANDARD.auth, { ...STANDARD.sign(), "webhook-id": "msg_2" })).to.deep.equal(refused("wrong"));
  });

  it("prefers the webhook-… headers to the svix-… headers and never mixes both", () => {
    const svix = { "svix-id": "msg_2", "svix-timestamp": "1", "svix-signature": "v1,x" };
    const { "webhook-id": _, ...withoutId } = STANDARD.sign();

    expect(check(STANDARD.auth, { ...STANDARD.sign(), ...svix }).ok).to.equal(true);
    expect(check(STANDARD.auth, { ...withoutId, ...svix })).to.deep.equal(refused("missing"));
  });

  const secrets: [what: string, secret: string, key: Buffer][] = [
    ["base64 after whsec_", KEY, KEY_BYTES],
    ["base64 without whsec_", KEY.slice(6), KEY_BYTES],
    ["the key itself, which could be base64", KEY.slice(6), Buffer.from(KEY.slice(6))],
    ["the key itself", SECRET, Buffer.from(SECRET)],
    ["the form with a version", `v1,${KEY}`, KEY_BYTES],
    ["one of two forms with a version", `v1,whsec_c2VjcmV0|v1,${KEY}`, KEY_BYTES],
    ["base64 with padding", `whsec_${Buffer.from(SECRET).toString("base64")}`, Buffer.from(SECRET)],
  ];
  for (const [what, secret, key] of secrets) {
    it(`accepts as a secret ${what}`, () => {
      const signature = new Webhook(key, { format: "raw" }).sign("msg_1", new Date(AT * 1000), BODY);
      const headers = { ...STANDARD.sign(), "webhook-signature": signature };

      expect(check({ type: "standard-webhooks", secret }, headers).ok).to.equal(true);
    });
  }

  for (const secret of ["whsec_", "whsec_A", "whsec_a secret", "whsec_ü", "whsec_=="]) {
    it(`throws for the unusable secret ${secret}`, () => {
      expect(() => check({ type: "standard-webhooks", secret }, STANDARD.sign())).to.throw(
        /must be base64 after whsec_/,
      );
    });
  }

  it("never accepts the empty key to which a short secret would decode", () => {
    const signature = new Webhook(Buffer.from("A"), { format: "raw" }).sign("msg_1", new Date(AT * 1000), BODY);
    const empty = hmacWith("", "sha256", "base64", `msg_1.${AT}.${BODY}`);
    const answer = (value: string) =>
      check({ type: "standard-webhooks", secret: "A" }, { ...STANDARD.sign(), "webhook-signature": value }).ok;

    expect(answer(signature)).to.equal(true);
    expect(answer(`v1,${empty}`)).to.equal(false);
  });
});

describe("verifySender with a custom hmac scheme", () => {
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

    it(`accepts ${algorithm} in ${encoding} after the prefix "${prefix}"`, () => {
      expect(check(auth, { "x-sig": prefix + digest }).ok).to.equal(true);
    });

    it(`refuses other digests in place of ${algorithm} in ${encoding}`, () => {
      for (const other of ["sha1", "sha256", "sha512"].filter((one) => one !== algorithm)) {
        const value = prefix + hmac(other, encoding, BODY);

        expect(check(auth, { "x-sig": value })).to.deep.equal(refused("malformed"));
      }
    });

    if (prefix) {
      it(`refuses a prefix other than "${prefix}" before ${algorithm} in ${encoding}`, () => {
        for (const other of ["", prefix.slice(1), ` ${prefix}`]) {
          expect(check(auth, { "x-sig": other + digest }).ok).to.equal(false);
        }
      });
    }
  }

  it("accepts base64 with and without padding", () => {
    const auth: SenderAuth = { type: "hmac", secret: SECRET, header: "x-sig", encoding: "base64" };
    const digest = hmac("sha256", "base64", BODY);

    expect(digest).to.match(/=$/);
    expect(check(auth, { "x-sig": digest }).ok).to.equal(true);
    expect(check(auth, { "x-sig": digest.replace("=", "") }).ok).to.equal(true);
  });

  it("refuses base64url where base64 is configured", () => {
    const body = "signs - and _";
    const url = hmac("sha256", "base64url", body);
    expect(url).to.match(/[-_]/);

    const auth: SenderAuth = { type: "hmac", secret: SECRET, header: "x-sig", encoding: "base64" };

    expect(check(auth, { "x-sig": url }, { body })).to.deep.equal(refused("malformed"));
  });

  it("ignores time stamps if no timestampHeader is configured", () => {
    expect(check(PLAIN.auth, STAMPED.sign())).to.deep.equal(refused("malformed"));
    expect(check(PLAIN.auth, PLAIN.sign(), { at: AT + 10_000_000 }).ok).to.equal(true);
  });

  it("refuses an unsigned time stamp if a timestampHeader is configured", () => {
    const headers = { "x-timestamp": `${AT}`, "x-signature": `v1=${hmac("sha256", "hex", BODY)}` };

    expect(check(STAMPED.auth, headers)).to.deep.equal(refused("wrong"));
  });
});
