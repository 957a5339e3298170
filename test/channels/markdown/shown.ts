import fc from "fast-check";
import { sizeOf } from "../../../src/channels/markdown/measure.ts";
import { splitPlainText } from "../../../src/channels/markdown/splitPlainText.ts";
import type { Dialect, Part, TextStyle } from "../../../src/channels/markdown/style.ts";
import { PLAIN } from "../../../src/channels/markdown/writer.ts";
import { sanitizeText } from "../../../src/shared/text/sanitizeText.ts";

const DIALECTS: readonly Dialect[] = ["telegram-html", "slack", "discord", "markdown", "whatsapp", "signal", "plain"];

export const style = (dialect: Dialect, limit = 4096, unit: TextStyle["unit"] = "utf16"): TextStyle => ({
  dialect,
  limit,
  unit,
});

/** Generates styles of any dialect and limit, more often with small limits. */
export const anyStyle: fc.Arbitrary<TextStyle> = fc.record({
  dialect: fc.constantFrom(...DIALECTS),
  limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 5000 })),
  unit: fc.constantFrom("utf16", "runes", "bytes"),
});

const ODD = [
  ..."\u200b\u200d\u0301\u202e\ufe0f\u00a0\u3000\u00ad\u05d0\u0627\u0e33\u0000\u0007\u001b\ud83d\udc4d\ud800",
  "👩‍👩‍👧‍👦",
  "🇩🇪🇫🇷",
  "\r\n",
  "\r",
  "\v",
  "\u2028",
  "é",
  "漢字。",
];

/** Generates text of all kinds without Markdown. */
export const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.array(fc.constantFrom(..."ab .!\n", ...ODD), { maxLength: 300 }).map((parts) => parts.join("")),
  fc.array(fc.lorem({ maxCount: 12, mode: "sentences" }), { maxLength: 12 }).map((texts) => texts.join("\n\n")),
);

const SYNTAX = [
  ...[
    "*",
    "**",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "```\n",
    "~~~\n",
    "```js\n",
    "\n",
    "\n\n",
    "  \n",
    "\\",
    "\\\n",
    " ",
    "    ",
  ],
  ...[
    "# ",
    "### ",
    "###### ",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "7) ",
    "> ",
    ">",
    "---",
    "***",
    "===",
    "|",
    " | ",
    "|---|---|\n",
  ],
  ...["[", "]", "(", ")", "](", "![", "<", ">", "</b>", "<br>", "<!--", "-->", "<!channel>", "@all", "@here", "<@U1>"],
  ...[
    "[x](https://a.bc/d)",
    "<https://a.bc>",
    "![y](z.png)",
    "[u][v]",
    "[v]: w\n",
    "[^n]",
    "[^n]: o\n",
    "]: ",
    "- [ ] ",
  ],
  ...["[p](tg://q)", '[r](s "t")', "[](https://a.bc/e)", "[**f** `g`](http://h.ij)", "||", "http://k.lm/_n_", "\t"],
];

/** Generates Markdown's marks in any order, with words between them. */
export const anyMarkdown = fc
  .array(fc.oneof(fc.constantFrom(...SYNTAX), fc.constantFrom("a", "b c", "Word.", "is it? ", ...ODD)), {
    maxLength: 80,
  })
  .map((parts) => parts.join(""));

/** Returns the visible characters: without white space, controls and other invisible characters. */
export function visible(text: string): string {
  return text.replace(/[\s\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/gu, "");
}

/** Returns whether `all` contains the characters of `some` in order, with or without others between them. */
export function isWithinInOrder(some: string, all: string): boolean {
  let at = 0;
  for (const character of all) if (character === some.slice(at, at + character.length)) at += character.length;
  return at === some.length;
}

const TAGS = new Set(["b", "i", "u", "s", "code", "pre", "a", "blockquote"]);
const TOKEN = /<(?<end>\/?)(?<tag>[a-z]+)(?<attributes>[^<>]*)>|&(?<entity>lt|gt|amp|quot);|[^<>&]/gu;
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

/**
 * Returns the text that Telegram shows for HTML, with addresses after links and `>` before each line of a quote, as in plain
 * text. Throws if Telegram would refuse the HTML.
 */
export function shownOfHtml(html: string): string {
  const open: { tag: string; href: string; start: number }[] = [];
  let shown = "";
  let end = 0;
  for (const { 0: token, index, groups } of html.matchAll(TOKEN)) {
    if (index !== end) throw new Error(`not HTML at ${index}: ${html}`);
    end += token.length;
    const { tag, entity, attributes = "" } = groups ?? {};
    if (entity) shown += ENTITIES[entity];
    else if (!tag) shown += token;
    else if (!TAGS.has(tag)) throw new Error(`no tag of Telegram's: ${token}`);
    else if (groups?.end) {
      const { tag: opened, href, start } = open.pop() ?? {};
      if (opened !== tag) throw new Error(`${tag} ends ${opened}: ${html}`);
      if (href) shown += ` (${href})`;
      if (tag === "blockquote") shown = `${shown.slice(0, start)}> ${shown.slice(start).replaceAll("\n", "\n> ")}`;
    } else {
      const inside = open.map(({ tag: outer }) => outer);
      if (inside.includes(tag)) throw new Error(`${tag} within ${inside}: ${html}`);
      if (inside.includes("code") || (inside.includes("pre") && tag !== "code")) throw new Error(`${tag} in code`);
      const address = /^ href="([^"<>]*)"$/.exec(attributes)?.[1];
      const isKnown = attributes === "" || (tag === "code" && /^ class="language-[^"]+"$/.test(attributes));
      if (tag === "a" ? !address : !isKnown) throw new Error(`attributes of ${token}`);
      const href = (address ?? "").replace(/&(lt|gt|amp|quot);/g, (_, name: string) => ENTITIES[name] ?? "");
      open.push({ tag, href, start: shown.length });
    }
  }
  if (open.length > 0 || end !== html.length) throw new Error(`open at the end: ${html}`);
  return shown;
}

/** Returns the length of a part as the service counts it: without tags for HTML. */
export function lengthOf({ text }: Part, { dialect, unit }: TextStyle): number {
  if (dialect !== "telegram-html") return sizeOf(text, unit);
  return sizeOf(text.replace(/<[^<>]*>/g, "").replace(/&(?:lt|gt|amp|quot);/g, "x"), unit);
}

/** Returns the messages for a text that is escaped so that it contains no Markdown. */
export const plainTexts = (text: string, style: TextStyle): string[] =>
  Array.from(splitPlainText(sanitizeText(text), style, PLAIN), ({ plain }) => plain);
