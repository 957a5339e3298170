import MarkdownIt from "markdown-it/browser";

/** Maximum nesting of quotes and lists (a list counts twice). Deeper blocks are shown as source text. */
const MAX_LEVELS = 16;

/*
 * Loaded when a text with markup is first shown. HTML in the text is shown as text, links lead to http and https only, pictures
 * become links, and no element has an inline style, which the page's content security policy forbids.
 */
const parser = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: MAX_LEVELS + 4 });
parser.disable("code"); // Messages are often indented without being code.
parser.validateLink = (url) => /^https?:\/\//i.test(url);
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
for (const schema of ["ftp:", "mailto:", "//"]) parser.linkify.add(schema, null as never);

// The parser itself would drop what is nested too deeply.
parser.block.ruler.before("table", "tooDeep", (state, startLine, endLine) => {
  if (state.level < MAX_LEVELS) return false;
  let line = startLine + 1;
  while (line < endLine && (state.isEmpty(line) || (state.sCount[line] ?? 0) >= state.blkIndent)) line += 1;
  const token = state.push("code_block", "code", 0);
  token.content = state.getLines(startLine, line, state.blkIndent, false);
  token.map = [startLine, line];
  state.line = line;
  return true;
});

const { rules } = parser.renderer;

rules.link_open = (tokens, index, options, _env, renderer) => {
  tokens[index]?.attrSet("rel", "noopener nofollow");
  tokens[index]?.attrSet("target", "_blank");
  return renderer.renderToken(tokens, index, options);
};

rules.image = (tokens, index, options, env, renderer) => {
  const token = tokens[index];
  const { escapeHtml } = parser.utils;
  const text = renderer.renderInlineAsText(token?.children ?? [], options, env) || "image";
  return `<a href="${escapeHtml(`${token?.attrGet("src")}`)}" rel="noopener nofollow" target="_blank">${escapeHtml(text)}</a>`;
};

// Headings of a text are no headings of the page.
rules.heading_open = () => `<p class="md-heading">`;
rules.heading_close = () => "</p>\n";

for (const cell of ["th", "td"]) {
  rules[`${cell}_open`] = () => `<${cell}>`; // without the alignment, which is an inline style
}

/** Returns the HTML of a Markdown text. */
export const renderMarkdown = (text: string): string => parser.render(text);
