import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns the links of a Markdown file that lead to no file, or to no heading of a Markdown file, as "page → target". */
export function brokenLinks(page: string): string[] {
  return relativeLinks(page)
    .filter((target) => !leadsSomewhere(page, target))
    .map((target) => `${page} → ${target}`);
}

function relativeLinks(page: string): string[] {
  const text = withoutCode(readFileSync(page, "utf8"));
  return [
    ...text.matchAll(/\]\(<?((?![a-z]+:|\/)[^)\s>]+)/g),
    ...text.matchAll(/(?:href|src)="((?![a-z]+:|\/)[^"]+)"/g),
  ].map(([, target]) => target as string);
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path ? join(dirname(page), decodeURI(path)) : page;
  if (!existsSync(file)) return false;
  return anchor === undefined || !file.endsWith(".md") || anchors(file).includes(anchor);
}

const cache = new Map<string, string[]>();

/**
 * Returns the anchors of a page's headings. They are those of GitHub and those of the guide's generator alike, which treat
 * punctuation differently: a heading with such characters has none, so that a link to it counts as broken.
 */
function anchors(page: string): string[] {
  const known = cache.get(page);
  if (known) return known;
  const seen = new Map<string, number>();
  const found = [...withoutBlocks(readFileSync(page, "utf8")).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => {
    const slug = slugOf(heading as string);
    if (slug === undefined) return "";
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  cache.set(page, found);
  return found;
}

const slugOf = (heading: string): string | undefined => {
  const text = heading.replace(/`/g, "").trim().toLowerCase();
  return /^[\p{L}\p{N} -]+$/u.test(text) ? text.replace(/ /g, "-") : undefined;
};

const withoutBlocks = (text: string): string => text.replace(/^(```+)[\s\S]*?^\1$/gm, "");

const withoutCode = (text: string): string => withoutBlocks(text).replace(/`[^`\n]*`/g, "");
