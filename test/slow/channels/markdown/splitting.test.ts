import { expect } from "chai";
import { toParts } from "../../../../src/channels/markdown/parts.ts";
import { style } from "../../../channels/markdown/shown.ts";

const MIB = 1024 * 1024;

describe("toParts for very long replies", () => {
  for (const unit of ["[", "a\n\n", "\u0301", "Some words. "]) {
    it(`ends with ${JSON.stringify(unit)} for 4 MiB`, () => {
      const markdown = `${unit.repeat((4 * MIB) / unit.length)} end`;

      expect(toParts(markdown, style("telegram-html")).at(-1)?.plain).to.match(/end$/);
    });
  }

  for (const unit of [">", "> ", "- ", "1. ", "[", "![", "**a ", "_*"]) {
    it(`ends with ${JSON.stringify(unit)} 100,000 times`, () => {
      for (const dialect of ["telegram-html", "markdown", "signal"] as const) {
        expect(toParts(`${unit.repeat(100_000)}end`, style(dialect)).at(-1)?.plain).to.match(/end$/);
      }
    });
  }
});
