import { expect } from "chai";
import fc from "fast-check";
import { parseJson } from "../../src/shared/json.ts";
import { runs } from "../support/random.ts";

/** A JSON text and the value that parseJson must return for it. */
type Case = readonly [text: string, value: unknown];

const asNumber = (text: string): Case => {
  const isRounded = /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text));
  return [text, isRounded ? text : Number(text)];
};
const asText = (text: string): Case => [JSON.stringify(text), text];
const LITERALS: readonly Case[] = [
  ["true", true],
  ["null", null],
];
const NUMBERS = ["1e20", "-1.5E-7", "1234567890123456.25", "12345678901234567890e1", "0.12345678901234567", "-0"];
const TEXTS = ['"', "\\", '\\"', "12345678901234567890", '": 12345678901234567890, "'];

const anyCase = fc.letrec<{ value: Case; list: Case; object: Case }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(...LITERALS, ...NUMBERS.map(asNumber), ...TEXTS.map(asText)),
    fc.string().map(asText),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => asNumber(JSON.stringify(double))),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map((big) => asNumber(String(big))),
    fc.integer({ min: 300, max: 320 }).map((zeros) => asNumber(`-1${"0".repeat(zeros)}`)),
    tie("list"),
    tie("object"),
  ),
  list: fc
    .array(tie("value"), { maxLength: 4 })
    .map((items): Case => [`[${items.map(([text]) => text).join(" ,\n ")}]`, items.map(([, value]) => value)]),
  object: fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }).map((cases): Case => {
    const fields = Object.entries(cases);
    const text = fields.map(([key, [text]]) => `${JSON.stringify(key)}:${text}`).join();
    return [`{${text}}`, Object.fromEntries(fields.map(([key, [, value]]) => [key, value]))];
  }),
})).value;

describe("parseJson", () => {
  it("parses any JSON as JSON.parse does, except that integers which would be rounded become strings of their digits", () => {
    fc.assert(
      fc.property(anyCase, ([text, value]) => {
        expect(parseJson(text)).to.deep.equal(value);
      }),
      runs(2_000),
    );
  });

  const broken = [
    "{12345678901234567890: 1}",
    "[012345678901234567890]",
    "[-12345678901234567890-1]",
    '["a" 12345678901234567890]',
    "12345678901234567890 1",
  ];
  for (const text of broken) {
    it(`refuses ${text} as JSON.parse does`, () => {
      expect(() => parseJson(text)).to.throw(SyntaxError);
    });
  }
});
