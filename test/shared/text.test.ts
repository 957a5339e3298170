import { expect } from "chai";
import { isVisible } from "../../src/shared/text.ts";

describe("isVisible", () => {
  for (const text of ["", " ", "\n\t\r\n", "\u00a0\u3000", "\u200b\u2060\ufeff", "\u00ad \u0000"]) {
    it(`takes ${JSON.stringify(text)} as nothing to see`, () => {
      expect(isVisible(text)).to.equal(false);
    });
  }

  for (const text of [".", "0", " x ", "👍", "\u200b-"]) {
    it(`takes ${JSON.stringify(text)} as something to see`, () => {
      expect(isVisible(text)).to.equal(true);
    });
  }
});
