import { documentBlocks } from "../support/documentBlocks.ts";
import { eventually } from "../support/eventually.ts";
import { Reader } from "./reader.ts";

/** Waits for the message of a job that has failed. It has a duration if the job took a second. */
const failureMessage = (link: string) => (reader: Reader) =>
  eventually(
    () =>
      reader
        .chatTexts("/signalbox-CHOOSE-A-NAME")
        .map((text) => text.replace(/ failed after \d+ s\./, " failed."))
        .includes(`backup failed.\n\nThe disk is full${link}`),
    "the message about the job that failed",
  );

/** Results that appear after the last command of a page. */
const OUTCOMES: Readonly<Record<string, (reader: Reader) => Promise<unknown>>> = {
  "docs/tutorials/first-job.md": failureMessage(""),
  "docs/how-to/get-notified-when-a-job-fails.md": failureMessage("\n\nhttp://127.0.0.1:3000/jobs/backup"),
  "docs/tutorials/github-to-chat.md": (reader) =>
    eventually(
      () => reader.chatRequests().filter((path) => path.endsWith("/sendMessage")).length > 1,
      "the reply to the issue, after the message that the page sends by hand",
    ),
};

/** Follows a page from its first block to its last. @throws if a block does not work, with its line */
export async function followPage(reader: Reader, page: string): Promise<void> {
  for (const block of documentBlocks(page)) {
    await reader.follow(block).catch((error: Error) => {
      throw new Error(`${page}:${block.line}: ${error.message}`);
    });
  }
  await OUTCOMES[page]?.(reader);
}

/** Declares a test for each page that follows it in a clone. */
export function followPages(pages: readonly string[]): void {
  let reader: Reader | undefined;
  afterEach(async () => {
    await reader?.close();
    reader = undefined;
  });

  for (const page of pages) {
    it(`work as written in ${page}`, async () => {
      reader = await Reader.inClone();
      await followPage(reader, page);
    });
  }
}
