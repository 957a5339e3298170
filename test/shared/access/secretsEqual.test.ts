import { expect } from "chai";
import fc from "fast-check";
import { secretsEqual } from "../../../src/shared/access/secretsEqual.ts";
import { runs } from "../../support/random.ts";

describe("secretsEqual", () => {
  it("returns true only for the secret itself", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 20 });
    const changed = fc.tuple(text, fc.nat(), fc.constantFrom("", "x", "\0", "é")).map(([secret, at, by]) => {
      const end = at % (secret.length + 1);
      return [secret, secret.slice(0, end) + by + secret.slice(end + 1)] as const;
    });

    const check = ([secret, given]: readonly [string, string]) => {
      expect(secretsEqual(given, secret)).to.equal(given.toWellFormed() === secret.toWellFormed());
      expect(secretsEqual(secret, secret)).to.equal(true);
    };

    fc.assert(fc.property(fc.oneof(changed, fc.tuple(text, text)), check), runs(1_000));
  });
});
