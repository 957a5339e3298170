import { expect } from "chai";
import fc from "fast-check";
import { toParts } from "../../../src/channels/markdown/parts.ts";
import type { Dialect } from "../../../src/channels/markdown/style.ts";
import { cases, runs } from "../../support/random.ts";
import { anyMarkdown, style, visible } from "./shown.ts";

const write = (markdown: string, dialect: Dialect) => toParts(markdown, style(dialect)).map(({ text }) => text);

const ALL = ["slack", "discord", "markdown"] as const;

describe("toParts for Markdown", () => {
  const same: [string, string][] = [
    ["marks", "**b** *i* _i_ ~~s~~ `c` ``d`e``"],
    ["a link", "[x](https://a.bc/d)"],
    ["headings", "# One\n\n### Three"],
    ["lists", "- one\n- two\n  - three\n\n    more\n\n1. one\n2. two"],
    ["tasks", "- [ ] one\n- [x] two"],
    ["a list right below a text", "These:\n- one\n- two"],
    ["quotes", "> one\n>\n> > two"],
    ["code", '```ts\nconst a = "<b>";\n\n  // @x\n```'],
    ["code in an item", "1. one\n   ```\n   two\n   ```"],
    ["escaped marks", "2 \\* 3, \\_x\\_, \\`y\\`"],
    ["stars and underlines that are none", "2 * 3, snake_case_name, a * b"],
    ["lines", "one\ntwo"],
  ];
  for (const dialect of ALL) {
    for (const [what, markdown] of same) {
      it(`passes on ${what} for ${dialect}`, () => {
        expect(write(markdown, dialect)).to.deep.equal([markdown]);
      });
    }
  }

  const TABLE = "| a | b |\n| --- | --- |\n| **c** | d \\| e |";
  const BADGE = "[![x](https://a.bc/d.png)](https://e.fg)";
  const FLAT = "[x (https://a.bc/d.png)](https://e.fg)";
  const differing: [string, string, Record<(typeof ALL)[number], string>][] = [
    ["a table", TABLE, { slack: TABLE, markdown: TABLE, discord: "```\na | b\nc | d | e\n```" }],
    ["a small heading", "#### x", { slack: "#### x", markdown: "#### x", discord: "**x**" }],
    ["bold by underlines", "__b__", { slack: "__b__", markdown: "__b__", discord: "**b**" }],
    [
      "an image",
      "![x](https://a.bc/d.png)",
      {
        slack: "[x](https://a.bc/d.png)",
        markdown: "[x](https://a.bc/d.png)",
        discord: "[x](https://a.bc/d.png)",
      },
    ],
    ["an image in a link", BADGE, { slack: FLAT, markdown: FLAT, discord: FLAT }],
    [
      "a link behind an exclamation mark",
      "\\![x](https://a.bc)",
      { slack: "\\![x](https://a.bc)", markdown: "\\![x](https://a.bc)", discord: "\\![x](https://a.bc)" },
    ],
    ["an address", "<https://a.bc>", { slack: "https://a.bc", markdown: "<https://a.bc>", discord: "https://a.bc" }],
    ["a relative link", "[x](y.md)", { slack: "x (y.md)", markdown: "x (y.md)", discord: "x (y.md)" }],
    ["a line end that is meant", "a\\\nb", { slack: "a  \nb", markdown: "a  \nb", discord: "a\nb" }],
    ["a rule", "a\n\n---\n\nb", { slack: "a\n\n---\n\nb", markdown: "a\n\n---\n\nb", discord: "a\n\n———\n\nb" }],
    [
      "what looks like a tag",
      "Map<string> 1 < 2",
      { slack: "Map&lt;string&gt; 1 &lt; 2", markdown: "Map&lt;string> 1 < 2", discord: "Map<string> 1 < 2" },
    ],
    ["bars, which hide in Discord", "a ||b||", { slack: "a ||b||", markdown: "a ||b||", discord: "a \\|\\|b\\|\\|" }],
    ["an entity", "&lt;b&gt; &copy;", { slack: "&lt;b&gt; ©", markdown: "&lt;b> ©", discord: "\\<b> ©" }],
    [
      "a fence in code",
      "````\n```\nx\n```\n````",
      {
        slack: "````\n```\nx\n```\n````",
        markdown: "````\n```\nx\n```\n````",
        discord: "```\n`\u200b``\nx\n`\u200b``\n```",
      },
    ],
    [
      "an address that would end early",
      "[x](<https://a.bc/(d e>)",
      {
        slack: "[x](https://a.bc/%28d%20e)",
        markdown: "[x](https://a.bc/%28d%20e)",
        discord: "[x](https://a.bc/%28d%20e)",
      },
    ],
    ["a text that would be a list", "a\n     - b", { slack: "a\n\\- b", markdown: "a\n\\- b", discord: "a\n\\- b" }],
    [
      "a text that would be a heading",
      "1986\\. A",
      { slack: "1986\\. A", markdown: "1986\\. A", discord: "1986\\. A" },
    ],
  ];
  for (const [what, markdown, expected] of differing) {
    for (const dialect of ALL) {
      it(`writes ${what} for ${dialect}`, () => {
        expect(write(markdown, dialect)).to.deep.equal([expected[dialect]]);
      });
    }
  }

  it("keeps the meaning of Markdown", () => {
    const different: string[] = [];
    fc.assert(
      fc.property(anyMarkdown, (markdown) => {
        for (const { text, plain } of toParts(markdown, style("markdown", 50_000))) {
          const read = toParts(text, style("plain", 50_000)).map((part) => part.plain);
          if (visible(read.join("")) !== visible(plain)) different.push(markdown);
        }
      }),
      runs(2_000),
    );
    // In a few random texts an asterisk is read differently: next to a link shown as text, right after another address.
    expect(different).to.have.length.at.most(Math.max(8, cases(8)), different.join("\n---\n"));
  });

  it("writes a table as code if it is too long for a message", () => {
    const rows = ["one | 1", "two | 2", "three | 3"];
    const markdown = ["a | b", "--|--", ...rows].join("\n");

    const parts = toParts(markdown, style("markdown", 30));

    expect(parts.map(({ text }) => text)).to.deep.equal([
      "```\na     | b\none   | 1\n```",
      "```\ntwo   | 2\nthree | 3\n```",
    ]);
  });
});

describe("toParts and mentions", () => {
  const neutralized: [string, Dialect, string, string][] = [
    ["everybody", "markdown", "@all @here @channel", "@\u200ball @\u200bhere @\u200bchannel"],
    ["everybody in capitals", "markdown", "@ALL, (@Here)", "@\u200bALL, (@\u200bHere)"],
    ["everybody by an entity", "markdown", "&#64;all \\@all", "@\u200ball @\u200ball"],
    ["everybody in code", "markdown", "`@all`", "`@\u200ball`"],
    ["nobody in a longer name", "markdown", "@allure @channels", "@allure @channels"],
    ["one user of Mattermost, which is meant", "markdown", "@jo", "@jo"],
    ["everybody", "slack", "@here <!here> <!channel|x>", "@\u200bhere &lt;!here&gt; &lt;!channel|x&gt;"],
    ["a user", "slack", "<@U123> <#C1> <!subteam^S1>", "&lt;@U123&gt; &lt;#C1&gt; &lt;!subteam^S1&gt;"],
    ["a user by entities", "slack", "&lt;@U123&gt;", "&lt;@U123&gt;"],
    ["a user in code", "slack", "`<@U123>`", "`<\u200b@U123>`"],
    ["what Discord is told not to call", "discord", "@everyone <@123>", "@everyone <@123>"],
  ];
  for (const [what, dialect, markdown, expected] of neutralized) {
    it(`writes ${what} for ${dialect}`, () => {
      expect(write(markdown, dialect)).to.deep.equal([expected]);
    });
  }

  for (const dialect of ["slack", "markdown"] as const) {
    it(`mentions nobody in plain text for ${dialect}`, () => {
      const [part] = toParts("@all <!here> `<@U1>`", style(dialect));

      expect(part?.plain).to.equal(
        dialect === "slack" ? "@\u200ball <\u200b!here> <\u200b@U1>" : "@\u200ball <!here> <@U1>",
      );
    });
  }
});
