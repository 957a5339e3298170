import { expect } from "chai";
import { isVisible } from "../../../src/shared/text/text.ts";

describe("isVisible", () => {
  for (const text of ["", " ", "\n\t\r\n", "\u00a0\u3000", "\u200b\u2060\ufeff", "\u00ad \u0000"]) {
    it(`returns false for ${JSON.stringify(text)}`, () => {
      expect(isVisible(text)).to.equal(false);
    });
  }

  for (const text of [".", "0", " x ", "👍", "\u200b-"]) {
    it(`returns true for ${JSON.stringify(text)}`, () => {
      expect(isVisible(text)).to.equal(true);
    });
  }
});
