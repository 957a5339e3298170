import { expect } from "chai";
import fc from "fast-check";
import { parseJson, readJson, toJson } from "../../../src/shared/text/json.ts";
import { runs } from "../../support/random.ts";

/** A JSON text and the value that parseJson must return for it. */
type Case = readonly [text: string, value: unknown];

const asNumber = (text: string): Case => {
  const isRounded = /^-?\d+$/.test(text) ? !Number.isSafeInteger(Number(text)) : !Number.isFinite(Number(text));
  return [text, isRounded ? text : Number(text)];
};
const asText = (text: string): Case => [JSON.stringify(text), text];
const LITERALS: readonly Case[] = [
  ["true", true],
  ["null", null],
];
const NUMBERS = [
  "1e20",
  "-1.5E-7",
  "1234567890123456.25",
  "12345678901234567890e1",
  "0.12345678901234567",
  "-0",
  "1e400",
  "-1.5E+0308",
  "1e-200",
  "0e999",
];
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

  for (const [text, expected] of [
    ["1e400", "1e400"],
    ["-1E+0400", "-1E+0400"],
    [`1${"0".repeat(400)}.5`, `1${"0".repeat(400)}.5`],
    ["1e-400", "1e-400"],
    ["12345678901234567.5", "12345678901234567.5"],
    ["0e400", 0],
    ["0.000e-999", 0],
    ["1e308", 1e308],
    ["1e0000", 1],
    ["0.1234567890123456789", 0.12345678901234568],
  ] as const) {
    it(`parses ${text.slice(0, 20)} as ${JSON.stringify(expected).slice(0, 20)}`, () => {
      expect(parseJson(`{"a": [1, ${text}]}`)).to.deep.equal({ a: [1, expected] });
    });
  }

  for (const [text, expected] of [
    ['"x\\ud83d"', "x\ufffd"],
    ['"\\uDC4D\\ud83d\\udc4d\\uD83D\\ud83d"', "\ufffd👍\ufffd\ufffd"],
    ['"\\\\ud83d \\\\\\ud83d \\n"', "\\ud83d \\\ufffd \n"],
    ['"\ud83d"', "\ufffd"],
  ] as const) {
    it(`replaces half a surrogate pair in ${text}`, () => {
      expect(parseJson(`{${text}: [${text}]}`)).to.deep.equal({ [expected]: [expected] });
    });
  }

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

describe("readJson", () => {
  it("reads UTF-8 with or without a byte order mark, and refuses other bytes", () => {
    expect(readJson(Buffer.from('\ufeff{"a":"ü"}'))).to.deep.equal({ a: "ü" });
    for (const bytes of [Buffer.from('{"a":"\xff"}', "latin1"), Buffer.from("{}", "utf16le")]) {
      expect(() => readJson(bytes)).to.throw();
    }
  });
});

describe("toJson", () => {
  it("returns text that strict readers accept", () => {
    expect(toJson({ "a\ud83d": ["\udc4d", "👍", "\\ud83d"] })).to.equal('{"a\\ufffd":["\\ufffd","👍","\\\\ud83d"]}');
  });
});
