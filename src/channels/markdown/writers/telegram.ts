import type { Mark } from "../inline.ts";
import { PLAIN, type Writer } from "../writer.ts";

const TAGS = { bold: "b", italic: "i", strike: "s", link: "a" } as const;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * Telegram's HTML, with its few tags and its rules of nesting: no marks around code, no links in links, no quotes in quotes.
 * Tables are shown in a monospaced font.
 */
export const telegram: Writer = {
  ...PLAIN,
  text: escapeHtml,
  escaped: escapeHtml,
  code: (code) => `<code>${escapeHtml(code)}</code>`,
  fence: (code, language) =>
    language === ""
      ? `<pre>${escapeHtml(code)}</pre>`
      : `<pre><code class="language-${escapeHtml(language)}">${escapeHtml(code)}</code></pre>`,
  open: ({ kind, href }) =>
    href === "" ? `<${TAGS[kind]}>` : `<a href="${escapeHtml(href).replaceAll('"', "&quot;")}">`,
  close: (mark) => `</${TAGS[mark.kind]}>`,
  hidesAddress: (mark) => !mark.isLabelAddress && isAddress(mark),
  heading: () => undefined,
  quote: "&gt; ",
  excludesMarksFromCode: true,
  wrapsQuotes: true,
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character);
}

/**
 * Returns whether Telegram accepts an address as a link. It drops others, which are therefore shown as text: Telegram accepts
 * web addresses whose host has a dot, and its own addresses. Of the latter only those that open something are links, as an
 * address of a user would mention that user.
 */
function isAddress({ href }: Mark): boolean {
  const url = /[\s\p{Cc}]/u.test(href) ? null : URL.parse(href);
  if (!url) return false;
  const { protocol, hostname } = url;
  if (protocol === "http:" || protocol === "https:") return /.\../.test(hostname) || hostname.startsWith("[");
  return /^tg:\/\/(?:resolve|privatepost|join|addlist|addstickers|addemoji|boost)\?/i.test(href);
}
