import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { generatedDocs } from "../script/docs.ts";
import { ERRORS } from "../src/shared/errors.ts";

const read = (path: string) => readFileSync(path, "utf8");

describe("the documents", () => {
  for (const [path, text] of Object.entries(generatedDocs())) {
    it(`${path} says what the code says (npm run docs)`, () => {
      expect(read(path)).to.equal(text);
    });
  }

  it("docs/errors.md names every code with its status, and no other", () => {
    const rows = [...read("docs/errors.md").matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);

    expect(Object.fromEntries(rows)).to.deep.equal(
      Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])),
    );
  });

  it("link only to files that exist", () => {
    const pages = [
      "README.md",
      "CONTRIBUTING.md",
      "CHANGELOG.md",
      ...readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? [join("docs", name)] : [])),
    ];

    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)/g)]
        .map(([, target]) => join(dirname(page), target as string))
        .filter((target) => !existsSync(target))
        .map((target) => `${page} → ${target}`),
    );

    expect(broken).to.deep.equal([]);
  });
});
