import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { generatedDocs } from "../script/docs.ts";
import { ERRORS } from "../src/shared/errorCatalogue.ts";
import { brokenLinks } from "./support/markdownLinks.ts";

const read = (path: string) => readFileSync(path, "utf8");

/** The page that links to all others. */
const HOME = join("docs", "index.md");

/** The slow tier installs packages below test. */
const PACKAGES = { exclude: ["**/node_modules/**"] };

const PAGES = globSync(["*.md", "{docs,bench,examples,test,.github}/**/*.md"], PACKAGES).sort();

/** Pages that `npm run docs` makes from the code, but for their first sentences. */
const isGenerated = (page: string): boolean =>
  /reference\/(cli|configuration|dependencies|errors|metrics|notification-events)\.md$/.test(page);

/** Counts the words of a page, without code blocks and the rows of tables that `npm run docs` writes. */
function proseWords(text: string): number {
  const prose = text.replace(/^ *```[\s\S]*?^ *```$/gm, "").replace(/^\| `(?:GET|PUT|POST|DELETE|\w+_\w+)\b.*$/gm, "");
  return prose.split(/\s+/).filter((word) => word !== "").length;
}

describe("the documents", () => {
  for (const [path, text] of Object.entries(generatedDocs())) {
    it(`${path} says what the code says (npm run docs)`, () => {
      expect(read(path)).to.equal(text);
    });
  }

  it("docs/reference/errors.md names every code with its status, and no other", () => {
    const rows = [...read("docs/reference/errors.md").matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);

    expect(Object.fromEntries(rows)).to.deep.equal(
      Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])),
    );
  });

  it("link only to files and headings that exist", () => {
    expect(PAGES).to.include.members(["README.md", "docs/reference/api.md"]);

    expect(PAGES.flatMap(brokenLinks)).to.deep.equal([]);
  });

  it("name the files of the packages by the current version", () => {
    const { version } = JSON.parse(read("package.json"));
    const named = PAGES.flatMap((page) => [...read(page).matchAll(/signalbox-(?:client-)?(\d[\w.-]*)\.tgz/g)]);

    expect(new Set(named.map(([, given]) => given))).to.deep.equal(new Set([version]));
  });

  it("have at most 35,000 words that people wrote, 600 in a how-to page and 1,000 in a tutorial", () => {
    const pages = PAGES.filter((page) => page.startsWith("docs/") && !isGenerated(page));
    const words = pages.map((page) => [page, proseWords(read(page))] as const);

    const long = words.filter(
      ([page, count]) =>
        (page.startsWith("docs/how-to/") && count > 600) || (page.startsWith("docs/tutorials/") && count > 1_000),
    );
    expect(long).to.deep.equal([]);
    expect(words.reduce((sum, [, count]) => sum + count, 0)).to.be.at.most(35_000);
  });

  it("are each linked from another page", () => {
    const linked = new Set(
      PAGES.flatMap((page) =>
        [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, to]) => join(dirname(page), to as string)),
      ),
    );

    const unlinked = PAGES.filter((page) => page.startsWith("docs/") && page !== HOME && !linked.has(page));
    expect(unlinked).to.deep.equal([]);
  });

  it("are there under each path that the code names", () => {
    const sources = globSync("{src,script,test,examples,bench}/**/*.{ts,tsx,js,mjs,py}", PACKAGES);
    const named = [...sources, "Dockerfile", "compose.yaml"].flatMap((source) =>
      [...read(source).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([path]) => ({ source, path })),
    );

    expect(named.filter(({ path }) => !existsSync(path))).to.deep.equal([]);
  });
});
