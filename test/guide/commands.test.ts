import { globSync } from "node:fs";
import { documentBlocks } from "../support/documentBlocks.ts";
import { eventually } from "../support/eventually.ts";
import { Reader } from "./reader.ts";

/** Results that appear after the last command of a page. */
const OUTCOMES: Readonly<Record<string, (reader: Reader) => Promise<unknown>>> = {
  "docs/tutorials/github-to-chat.md": (reader) =>
    eventually(
      () => reader.chatRequests().filter((path) => path.endsWith("/sendMessage")).length > 1,
      "the reply to the issue, after the message that the page sends by hand",
    ),
};

const PAGES = ["README.md", ...globSync("docs/{tutorials,how-to}/*.md").sort()];

describe("the commands and programs of the documents", function () {
  this.timeout(120_000);
  let reader: Reader | undefined;
  afterEach(async () => {
    await reader?.close();
    reader = undefined;
  });

  for (const page of PAGES) {
    it(`work as written in ${page}`, async () => {
      reader = await Reader.inClone();
      for (const block of documentBlocks(page)) {
        await reader.follow(block).catch((error: Error) => {
          throw new Error(`${page}:${block.line}: ${error.message}`);
        });
      }
      await OUTCOMES[page]?.(reader);
    });
  }
});
