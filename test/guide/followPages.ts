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

/** Declares a test for each page that follows it from its first block to its last. */
export function followPages(pages: readonly string[]): void {
  let reader: Reader | undefined;
  afterEach(async () => {
    await reader?.close();
    reader = undefined;
  });

  for (const page of pages) {
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
}
