import type { Mark } from "../inline.ts";
import { PLAIN, type Writer } from "../writer.ts";

const TAGS = { bold: "b", italic: "i", strike: "s", link: "a" } as const;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * Telegram's HTML: the few tags it knows, nested as it allows: no marks around code, no link within a link, no quote within
 * a quote. Tables are shown in letters of one width.
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
 * Telegram drops what is no address by its rules, which are for the web and for itself, and the host of a web address has a
 * dot: such an address is shown instead. Of its own addresses those are links that show something; one to a user would call
 * that user.
 */
function isAddress({ href }: Mark): boolean {
  const url = /[\s\p{Cc}]/u.test(href) ? null : URL.parse(href);
  if (!url) return false;
  const { protocol, hostname } = url;
  if (protocol === "http:" || protocol === "https:") return /.\../.test(hostname) || hostname.startsWith("[");
  return /^tg:\/\/(?:resolve|privatepost|join|addlist|addstickers|addemoji|boost)\?/i.test(href);
}
