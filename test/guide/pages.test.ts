import { existsSync, globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { GROUPS } from "../../docs/.vitepress/sidebar.ts";

const named = Object.values(GROUPS).flatMap((pages) => pages.map(([page]) => page));

describe("the guide's pages", () => {
  it("are each in the sidebar", () => {
    const pages = globSync("docs/**/*.md").map((path) => path.slice("docs/".length, -".md".length));

    expect(pages.filter((page) => page !== "index" && !named.includes(page))).to.deep.equal([]);
  });

  it("are there under every path of the sidebar", () => {
    expect(named.filter((page) => !existsSync(`docs/${page}.md`))).to.deep.equal([]);
  });

  it("are there under every path that the code links to", () => {
    const sources = globSync("{src,script}/**/*.{ts,tsx,mjs,html}");
    const links = sources.flatMap((source) =>
      [...readFileSync(source, "utf8").matchAll(/\/guide\/([a-z][\w/-]*)/g)].map(([, page = ""]) => ({ source, page })),
    );

    expect(links.filter(({ page }) => !page.startsWith("assets/") && !existsSync(`docs/${page}.md`))).to.deep.equal([]);
  });
});
