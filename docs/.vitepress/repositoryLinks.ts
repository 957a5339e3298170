import { posix } from "node:path";
import type { MarkdownRenderer } from "vitepress";

/**
 * Turns links from a page to a file outside docs/, such as `../examples/README.md`, into plain text with the file's path
 * as its title: the file is in the repository and not in the guide.
 */
export function repositoryLinks(md: MarkdownRenderer): void {
  md.core.ruler.push("repository_links", ({ tokens, env }) => {
    const page = String(env.relativePath ?? "");
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === "link_open") {
        const path = pathOutside(page, String(token.attrGet("href")));
        if (path === undefined) continue;
        token.tag = "span";
        token.attrs = [["title", `In the repository: ${path}`]];
      }
    }
    closeAlike(tokens.flatMap(({ children }) => children ?? []));
  });
}

/** Returns the path in the repository of a link that leaves docs/. */
function pathOutside(page: string, href: string): string | undefined {
  if (/^[a-z]+:|^[/#]/i.test(href)) return undefined;
  const path = posix.join("docs", posix.dirname(page), href);
  return path.startsWith("docs/") ? undefined : path;
}

/** Gives the end of each link the tag of its beginning. */
function closeAlike(tokens: readonly { type: string; tag: string }[]): void {
  let tag = "a";
  for (const token of tokens) {
    if (token.type === "link_open") tag = token.tag;
    else if (token.type === "link_close") token.tag = tag;
  }
}
