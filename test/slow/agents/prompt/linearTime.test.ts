import { expect } from "chai";
import { breakRoleHeadings, neutralize } from "../../../../src/agents/prompt/neutralize.ts";
import { expectLinearTime } from "../../../support/linearTime.ts";

const KIB = 1024;

/** Units whose repetition makes a careless search start again and again. */
const ADVERSARIAL: Readonly<Record<string, string>> = {
  "the start of a marker": "untrusted_conten",
  "the letters of a marker, apart": "u n t r u n ",
  "gaps within a marker": `untr${".".repeat(500)}usted${".".repeat(500)}`,
  "opening brackets": "<",
  "spaced brackets": "< ",
  "piped brackets": "<|a",
  prefixes: `<|${"a".repeat(16)}`,
  tokens: "<s>",
  "opening square brackets": "[",
  "bars in brackets": "[|a ",
  "words joined in a tag": "<a_",
  "parts of a tag": "<a-",
  "prefixes of a tag": "<ab:",
  "capitals in brackets": "[ABC",
  "angle brackets and words": ">>ABC<",
  "tildes and brackets": "]~b",
  "signs that pass for letters": "un+ru$",
  "hashes at the start of a line": "\n#",
  "tags at the start of a line": "\n<b>",
  "line ends": "\n",
  "zero-width characters": "e\u200b",
  "look-alikes": "е〈｜",
};

/** A start, and a unit that is repeated after it. */
const RUNS: Readonly<Record<string, [string, string]>> = {
  "bars after the start of a marker": ["untr", "|"],
  "dots after the start of a marker": ["untrusted conten", "."],
  "spaces after a bracket": ["<", " "],
  "joiners after a bracket": ["<", "_"],
  "spaces after a tag's name": ["<system", " "],
  "joiners within a token": ["<|im", "_"],
  "spaces at the start of a line": ["\n", " "],
  "spaces after a role": ["\nHuman", " "],
  "signs at the start of a line": ["\n", "*"],
  "hashes in a line": ["\n", "#"],
  "emoji at the start of a line": ["\n", "👤"],
  "signs after a role": ["\nHuman", "*"],
  "plus signs after the start of a marker": ["un", "+"],
  "bars after a bracket": ["<", "|"],
  "marks on a letter": ["e", "\u0301"],
  "letters in a piped token": ["<|", "a"],
};

describe("The time of neutralize", () => {
  const cases: [string, (length: number) => string][] = [
    ...Object.entries(ADVERSARIAL).map(([what, unit]): [string, (length: number) => string] => [
      what,
      (length) => unit.repeat(length / unit.length),
    ]),
    ...Object.entries(RUNS).map(([what, [start, unit]]): [string, (length: number) => string] => [
      what,
      (length) => start + unit.repeat(length),
    ]),
  ];
  for (const [what, make] of cases) {
    it(`grows linearly with the length of a text of ${what}`, () => {
      expectLinearTime((length) => breakRoleHeadings(neutralize(make(length))), 64 * KIB);
    }).timeout(120_000);
  }

  it("allows long runs of signs in a text that is not ASCII", () => {
    for (const sign of [" ", "*", "#", "👤", "+", "|", "ˍ"]) {
      const run = sign.repeat((4096 * KIB) / sign.length);

      expect(neutralize(`${run}Human: е`)).to.equal(`${run}Human※: е`);
      expect(neutralize(`un${run}trusted content е`)).to.equal(`※un${run}trusted content е`);
      expect(breakRoleHeadings(`# ${run}User\nе`)).to.equal(`# ${run}※User\nе`);
    }
  }).timeout(120_000);

  it("allows a text of 8 MiB", () => {
    const large = 8192 * KIB;

    expect(neutralize(`${" ".repeat(large)}<s>${"е".repeat(large / 2)}`)).to.include("<※s>");
  });
});
