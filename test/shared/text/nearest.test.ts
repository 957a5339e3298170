import { expect } from "chai";
import { nearest } from "../../../src/shared/text/nearest.ts";

const KNOWN = ["port", "host", "apiToken", "timeoutSeconds", "messageTemplate"];

const cases: readonly (readonly [title: string, unknown: string, expected: string | undefined])[] = [
  ["two swapped letters", "prot", "port"],
  ["a missing letter", "mesageTemplate", "messageTemplate"],
  ["another case", "APITOKEN", "apiToken"],
  ["the beginning of a name", "timeout", "timeoutSeconds"],
  ["the end of a name", "token", "apiToken"],
  ["a name that resembles none", "colour", undefined],
  ["a short name that resembles none", "xy", undefined],
  ["an empty name", "", undefined],
  ["a very long name", "port".repeat(17), undefined],
];

describe("nearest()", () => {
  for (const [title, unknown, expected] of cases) {
    it(`returns ${expected ?? "nothing"} for ${title}`, () => {
      expect(nearest(unknown, KNOWN)).to.equal(expected);
    });
  }
});
