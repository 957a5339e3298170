import { expect } from "chai";
import type { SenderAuth } from "../../../src/hooks/signatures/verifySender.ts";
import {
  AT,
  BODY,
  check,
  hmac,
  type Refusal,
  refused,
  SLACK,
  STAMPED,
  STAMPED_SCHEMES,
  STANDARD,
  STRIPE,
} from "./senders.ts";

describe("verifySender with a signed time stamp", () => {
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
        ["of this second without tolerance", 0, 0, true],
      ];
      for (const [what, seconds, toleranceSeconds, ok] of ages) {
        it(`${ok ? "accepts" : "refuses"} a message ${what}`, () => {
          const verification = check({ ...auth, toleranceSeconds } as SenderAuth, sign(), { at: AT + seconds });

          expect(ok ? verification.ok : verification).to.deep.equal(ok || refused("expired"));
        });
      }

      it("compares whole seconds, as the senders do", () => {
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

  it("accepts an hmac sender's time stamp in milliseconds", () => {
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
    it(`does not accept milliseconds from ${name}`, () => {
      expect(check(auth, sign(BODY, AT * 1000))).to.deep.equal(refused("expired"));
    });
  }
});
