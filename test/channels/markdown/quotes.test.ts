import { expect } from "chai";
import fc from "fast-check";
import MarkdownIt from "markdown-it";
import cjkFriendly from "markdown-it-cjk-friendly";
import { parser } from "../../../src/channels/markdown/parser.ts";
import { expectLinearTime } from "../../support/linearTime.ts";
import { runs } from "../../support/random.ts";

describe("The parser of quotes", () => {
  const others: Readonly<Record<string, string>> = {
    "a heading": "> # one\ntwo\n",
    "indented code": ">     one\n    two\n",
    "a fence": "> ```\none\n",
    "a rule": "> ***\none\n",
    "a heading in a quote": "> > # one\n> two\n",
    "a heading in an item": "- > # one\n  two\n",
    "a heading in seven quotes": "> > > > > > > # one\n>>>>>>> two\n",
  };
  for (const [what, unit] of Object.entries(others)) {
    it(`takes linear time for quotes that end with ${what}, without a blank line`, () => {
      expectLinearTime((times) => parser.parse(unit.repeat(times), {}), 2_000);
    });
  }

  it("finds the same blocks as the rule of markdown-it", () => {
    const plain = new MarkdownIt({ html: false, maxNesting: 20 });
    plain.use(cjkFriendly);
    plain.disable(["reference", "html_block", "html_inline"]);
    plain.core.ruler.enableOnly(["block"]);
    const lines = ["> ", ">", "    ", "- ", "1. ", "# ", "```\n", "\n", "\n", "\n", "one", "two three", "***\n"];
    const quoted = ["> one\n", ">     one\n", "> # one\n", "> > one\n", "> - one\n", "> ```\n", "one\n", "    one\n"];
    const anyQuotes = fc.array(fc.constantFrom(...lines, ...quoted), { minLength: 40, maxLength: 200, size: "max" });
    const shape = (parse: typeof parser, text: string) =>
      parse
        .parse(text, {})
        .map(({ type, level, map, content, info, hidden }) => ({ type, level, map, content, info, hidden }));

    fc.assert(
      fc.property(anyQuotes, (parts) => {
        const text = parts.join("");

        expect(shape(parser, text)).to.deep.equal(shape(plain, text));
      }),
      runs(300),
    );
  });
});
