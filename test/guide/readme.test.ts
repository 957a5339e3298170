import { readFileSync } from "node:fs";
import { expect } from "chai";
import { documentBlocks } from "../support/documentBlocks.ts";
import { Reader } from "./reader.ts";

const README = readFileSync("README.md", "utf8");
const BLOCKS = documentBlocks("README.md");

/** Maximum words of README, code included. */
const MAX_WORDS = 700;

describe("README", () => {
  it(`has at most ${MAX_WORDS} words`, () => {
    expect(README.split(/\s+/).filter(Boolean).length).to.be.at.most(MAX_WORDS);
  });

  it("begins with the start and a ping, before its picture, and goes on with the tests", () => {
    const [start, printed, test] = BLOCKS;
    const [beforePicture = ""] = README.split("![");

    expect(beforePicture.match(/^```\w/gm)).to.have.length(2);
    expect(start?.code).to.match(/^npm start &\n.*\bcurl\b.*\n$/);
    expect([printed?.language, test?.code.startsWith("npm test #")]).to.deep.equal(["text", true]);
  });

  it("has no block that cannot be pasted as it is", () => {
    expect(BLOCKS.flatMap(({ info }) => info)).to.deep.equal([]);
    for (const { code } of BLOCKS) expect(code).to.not.match(/<\w+>|\b[A-Z]{4,}\b/);
  });

  it("does what it says in a clone, and prints what it shows", async () => {
    const reader = await Reader.inClone();
    let printed = "";
    try {
      for (const block of BLOCKS) {
        if (block.language === "text")
          expect(printed.endsWith(block.code), `line ${block.line}: ${printed}`).to.equal(true);
        printed = await reader.follow(block);
      }
    } finally {
      await reader.close();
    }

    expect(printed).to.equal("");
  });
});
