import { expect } from "chai";
import { defuse } from "../../../src/agents/prompt/defuse.ts";
import { processorMs } from "../../support/processorMs.ts";

const KIB = 1024;

/** Texts that make a careless search start over and over again. */
const ADVERSARIAL: Readonly<Record<string, string>> = {
  "the start of a marker": "untrusted_conten",
  "the letters of a marker, apart": "u n t r u n ",
  "gaps within a marker": `untr${".".repeat(500)}usted${".".repeat(500)}`,
  "opening brackets": "<",
  "spaced brackets": "< ",
  "piped brackets": "<|a",
  prefixes: `<|${"a".repeat(16)}`,
  tokens: "<s>",
  "line ends": "\n",
  "zero-width characters": "e\u200b",
  "look-alikes": "е〈｜",
};

/** Texts of one start and then a long run. */
const RUNS: Readonly<Record<string, [string, string]>> = {
  "bars after the start of a marker": ["untr", "|"],
  "dots after the start of a marker": ["untrusted conten", "."],
  "spaces after a bracket": ["<", " "],
  "joiners after a bracket": ["<", "_"],
  "spaces after a tag's name": ["<system", " "],
  "joiners within a token": ["<|im", "_"],
  "spaces at the start of a line": ["\n", " "],
  "spaces after a role": ["\nHuman", " "],
  "marks on a letter": ["e", "\u0301"],
  "letters in a piped token": ["<|", "a"],
};

const timeMs = (text: string): number => processorMs(() => defuse(text));

describe("defuse in time", () => {
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
    it(`grows with the length and no faster: ${what}`, () => {
      const small = timeMs(make(256 * KIB));
      const large = timeMs(make(2048 * KIB));

      // Eight times the length; a quadratic search takes 64 times as long, which at this size is minutes.
      expect(large).to.be.below(40 * Math.max(small, 10));
    }).timeout(60_000);
  }

  it("takes 8 MiB", () => {
    const large = 8192 * KIB;

    expect(defuse(`${" ".repeat(large)}<s>${"е".repeat(large / 2)}`)).to.include("<※s>");
  });
});
