import { posix } from "node:path";
import MarkdownIt, { type RendererRule, type Token } from "markdown-it";
import { Html, html } from "../../shared/text/html.ts";

/** A heading of a page, and what follows it as text. */
export interface Section {
  readonly level: number;
  readonly anchor: string;
  readonly heading: string;
  /** Paragraphs, list items and rows of tables. */
  readonly texts: string[];
  /** Lines of code blocks. */
  readonly code: string[];
  /** The links to files of docs/, by their path there. */
  readonly links: { readonly to: string; readonly text: string }[];
}

export interface Page {
  readonly content: Html;
  readonly sections: readonly Section[];
}

const markdown = new MarkdownIt({ html: true, linkify: true }); // The comments of generated pages are HTML.;
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

const { rules } = markdown.renderer;

rules.heading_close = (tokens, index) => {
  const [open, text] = [tokens[index - 2], tokens[index - 1]];
  const { tag } = open as Token;
  const link = html` <a class="anchor" href="#${`${open?.attrGet("id")}`}" aria-label="Link to “${textOf(text)}”">#</a>`;
  return `${tag === "h1" ? "" : link.text}</${tag}>\n`;
};

const codeBlock: RendererRule = (tokens, index) => {
  const { content = "", info = "" } = tokens[index] ?? {};
  const code = /^(text)?$/.test(info) ? html`${content}` : highlight(content);
  return html`<div class="command"><pre tabindex="0"><code>${code}</code></pre></div>\n`.text;
};
rules.fence = codeBlock;
rules.code_block = codeBlock;

rules.table_open = () => `<div class="scroll-x" tabindex="0"><table>\n`;
rules.table_close = () => "</table></div>\n";
for (const cell of ["th", "td"]) {
  rules[`${cell}_open`] = () => `<${cell}>`; // without the alignment, which is an inline style
}

/** Returns a page of docs/ as HTML and as text. @param path its path in docs/, such as `how-to/deploy.md` */
export function readPage(path: string, source: string): Page {
  const tokens = markdown.parse(source, {});
  const sections: Section[] = [];
  const anchors = new Map<string, number>();
  for (const [i, token] of tokens.entries()) {
    const section = sections.at(-1);
    const before = tokens[i - 1];
    if (before?.type === "heading_open") {
      const heading = textOf(token);
      const anchor = uniqueAnchor(heading, anchors);
      before.attrSet("id", anchor);
      sections.push({ level: Number(before.tag.slice(1)), anchor, heading, texts: [], code: [], links: [] });
    } else if (token.type === "inline") {
      const text = textOf(token);
      const isNextCell = /^t[hd]_close$/.test(tokens[i - 2]?.type ?? "");
      if (!isNextCell) section?.texts.push(text);
      else if (text) section?.texts.push(`${section.texts.pop()} · ${text}`);
    } else if (token.type === "fence") section?.code.push(...token.content.split("\n").filter(Boolean));
    section?.links.push(...adjustLinks(path, token.children ?? []));
  }
  return { content: new Html(markdown.renderer.render(tokens, markdown.options, {})), sections };
}

/** Returns the anchor of a heading as GitHub makes it, so that links work there and in the guide. */
function uniqueAnchor(heading: string, known: Map<string, number>): string {
  const slug = heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
  const count = known.get(slug) ?? 0;
  known.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

/**
 * Lets links to other pages of docs/ lead to their addresses in the guide, and returns them. A link to a file outside docs/
 * becomes text with the file's path as its title: the file is in the repository and not in the guide.
 */
function adjustLinks(path: string, tokens: readonly Token[]): Section["links"] {
  const links: Section["links"] = [];
  let tag = "a";
  for (const [i, token] of tokens.entries()) {
    if (token.type === "link_close") token.tag = tag;
    if (token.type !== "link_open") continue;
    const href = String(token.attrGet("href"));
    const to = posix.join("docs", posix.dirname(path), href);
    const isRelative = !/^([a-z]+:|[/#])/i.test(href);
    tag = isRelative && !to.startsWith("docs/") ? "span" : "a";
    token.tag = tag;
    if (tag === "span") token.attrs = [["title", `In the repository: ${to}`]];
    else if (isRelative) {
      token.attrSet("href", href.replace(/(?:(?<=^|\/)index)?\.md(?=#|$)/, "") || "./");
      links.push({ to: to.slice("docs/".length), text: textOf({ children: tokens.slice(i) }) });
    }
  }
  return links;
}

/** Returns the text of an inline token, or of a link that begins its children. */
function textOf(token: { readonly children?: readonly Token[] | null } | undefined): string {
  let text = "";
  for (const { type, content, children } of token?.children ?? []) {
    if (type === "link_close" && token?.children?.[0]?.type === "link_open") break;
    if (type === "softbreak" || type === "hardbreak") text += " ";
    else text += children ? textOf({ children }) : content;
  }
  return text;
}

/** Returns code with its strings and comments marked, in which the languages of docs/ are alike enough. */
const highlight = (code: string): Html[] =>
  code
    .split(/("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?<=^|\s)(?:#|\/\/)[^\n]*)/)
    .map((part, i) =>
      i % 2 === 0 ? html`${part}` : html`<i class="${/^["']/.test(part) ? "string" : "muted"}">${part}</i>`,
    );
