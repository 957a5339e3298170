import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect } from "chai";

describe("docs/explanation/threat-model.md", () => {
  const text = readFileSync("docs/explanation/threat-model.md", "utf8");
  const threats = text
    .split("\n")
    .filter((line) => line.split(" | ").length === 3 && !line.includes("attack | defence"));

  it("names a test in each line, or that the threat is not stopped and what to do", () => {
    const without = threats.filter((line) => !line.includes("](../../test/"));

    expect(threats).to.have.length.above(30);
    expect(without.filter((line) => !/\| — \|$/.test(line))).to.deep.equal([]);
  });

  it("names only tests that exist, each by its name", () => {
    const links = [...text.matchAll(/\[([^\]]+)\]\(\.\.\/\.\.\/test\/([^)]+)\)/g)];
    const wrong = links.filter(
      ([, label = "", file = ""]) => !existsSync(`test/${file}`) || basename(file) !== `${basename(label)}.test.ts`,
    );

    expect(links).to.have.length.above(80);
    expect(wrong.map(([link]) => link)).to.deep.equal([]);
  });

  it("names every test of this folder, and only files that exist", () => {
    const named = new Set([...text.matchAll(/\(\.\.\/\.\.\/test\/security\/([^)]+)\)/g)].map(([, file]) => file));
    const own = readdirSync("test/security").filter((name) => name !== "document.test.ts");

    expect([...named].sort()).to.deep.equal(own.sort());
  });
});
