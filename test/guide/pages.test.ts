import { existsSync, globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { Docs } from "../../src/api/guide/docs.ts";
import { readPage } from "../../src/api/guide/markdown.ts";
import { readBuiltFiles } from "../../src/api/pages/builtFiles.ts";

const files = readBuiltFiles("docs");
const docs = new Docs(files);
const paths = [...files.keys()].filter((path) => path.endsWith(".md"));
const render = (source: string, path = "how-to/page.md") => readPage(path, source).content.text;

describe("the guide's pages", () => {
  it("are each in the navigation, which the index makes", () => {
    const named = docs.groups().flatMap(({ pages }) => pages.map(({ path }) => path));

    expect(named.toSorted()).to.deep.equal(paths.filter((path) => path !== "index.md").toSorted());
  });

  it("link only to pages, headings and files that the guide serves", () => {
    const pages = new Map(
      paths.map((path) => [path.replace(/(index)?\.md$/, ""), docs.read(path)?.content.text ?? ""]),
    );
    const broken = [...pages].flatMap(([page, text]) =>
      [...text.matchAll(/(?:href|src)="(?![a-z]+:)([^"]*)"/g)].flatMap(([, to = ""]) => {
        const { pathname, hash } = new URL(to, `http://guide/${page}`);
        const target = pages.get(pathname.slice(1));
        const isThere =
          target === undefined ? files.has(pathname.slice(1)) : !hash || target.includes(`id="${hash.slice(1)}"`);
        return isThere ? [] : [`${page} → ${to}`];
      }),
    );

    expect(pages.size).to.be.above(50);
    expect(broken).to.deep.equal([]);
  });

  it("are there under every path that the code links to", () => {
    const sources = globSync("{src,script}/**/*.{ts,tsx,mjs,html}");
    const links = sources.flatMap((source) =>
      [...readFileSync(source, "utf8").matchAll(/\/guide\/([a-z][\w-]*\/[\w/-]*)/g)].map(([, page = ""]) => ({
        source,
        page,
      })),
    );

    expect(
      links.filter(({ page, source }) => !/^src\/api\/guide/.test(source) && !existsSync(`docs/${page}.md`)),
    ).to.deep.equal([]);
  });
});

describe("a page of the guide", () => {
  it("has the anchors that GitHub makes, once each", () => {
    const html = render("# A\n\n## TLS, with `nginx`\n\n## Why?\n\n### Why?");

    expect([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)).to.deep.equal([
      "a",
      "tls-with-nginx",
      "why",
      "why-1",
    ]);
  });

  it("leads to other pages without their extension, and names files of the repository", () => {
    const html = render(
      "# A\n\n[b](b.md#c) [i](../index.md) [d](../reference/d.md) [e](../../examples/README.md) [f](https://x.example/a.md)",
    );

    expect([...html.matchAll(/<(?:a|span) (\w+="[^"]*")>(\w)</g)].map(([, ...found]) => found)).to.deep.equal([
      ['href="b#c"', "b"],
      ['href="../"', "i"],
      ['href="../reference/d"', "d"],
      ['title="In the repository: examples/README.md"', "e"],
      ['href="https://x.example/a.md"', "f"],
    ]);
  });

  it("marks strings and comments of code, and escapes it", () => {
    expect(render('# A\n\n```sh\ncurl "a<b" # why\n```')).to.include(
      'curl <i class="string">&#34;a&#60;b&#34;</i> <i class="muted"># why</i>',
    );
    expect(render('# A\n\n```text\n"a" # b\n```')).to.include("<code>&#34;a&#34; # b\n</code>");
  });
});
