import { expect } from "chai";
import fc from "fast-check";
import { toParts } from "../../../src/channels/markdown/parts.ts";
import { escapeMarkdown } from "../../../src/channels/mattermost/channel.ts";
import { runs } from "../../support/random.ts";
import { anyMarkdown, style } from "./shown.ts";

const EVERYBODY_MENTION = ["@here", "@channel", "@all"];

/** Returns whether Mattermost would notify everybody for this text, word by word as its server's mention parser does. */
function rings(text: string): boolean {
  return text.split(/[^\p{L}\p{N}:.\-_@]+/u).some((piece) => {
    const word = piece.replace(/^[:.\-_]+/, "").toLowerCase();
    if (EVERYBODY_MENTION.includes(word.replace(/[.\-:_]+$/, ""))) return true;
    return !word.startsWith("@") && word.split(/[.\-:]/).some((part) => EVERYBODY_MENTION.includes(part));
  });
}

/** Returns the text that the server's parser reads, from which backslash escapes are removed. */
const unescaped = (text: string) => text.replace(/\\([!-/:-@[-`{-~])/g, "$1");

/** Returns all texts of posts for a reply: formatted, and plain with escapes. */
function postsOf(text: string, limit = 4_000): string[] {
  const parts = toParts(text, style("markdown", limit, "runes"));
  return parts.flatMap((part) => [part.text, escapeMarkdown(part.plain, limit)]);
}

const anyCall = fc
  .array(
    fc.oneof(
      fc.constantFrom("@here", "@channel", "@all", "@All", "@", "here", "all", "_", "__", ".", "-", ":", "\\", "&#64;"),
      fc.constantFrom(
        " ",
        "\n",
        "*",
        "**",
        "`",
        "~~",
        "x",
        "É",
        "\u0301",
        "7",
        "<",
        "&",
        "|",
        "[",
        "](u)",
        "www.",
        "/",
      ),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

describe("mention of everybody in Mattermost", () => {
  const calls = ["@here", "_@here_", "__@all__", "_Heads up @channel_", "@here_", "@here_x", "a.@ALL", "@here.:-_ you"];
  for (const text of calls) {
    it(`is neutralized in ${text}, formatted or plain`, () => {
      const posts = postsOf(text);

      expect(posts.filter((post) => rings(post) || rings(unescaped(post)))).to.deep.equal([]);
    });
  }

  it("is neutralized in arbitrary text", () => {
    fc.assert(
      fc.property(fc.oneof(anyCall, anyMarkdown), fc.integer({ min: 1, max: 200 }), (text, limit) => {
        const posts = postsOf(text, limit);

        expect(posts.filter((post) => rings(post) || rings(unescaped(post)))).to.deep.equal([]);
      }),
      runs(3000),
    );
  }).timeout(120_000);

  for (const name of ["@here_x", "@all_hands", "@channels", "@allure"]) {
    it(`does not include the name ${name}, which stays unchanged`, () => {
      expect(toParts(name, style("markdown"))).to.deep.equal([{ text: name, plain: name }]);
    });
  }
});
