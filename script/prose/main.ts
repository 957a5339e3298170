/**
 * Checks the sentences of the documents by the house style: `npm run prose`. Prints each fault with its place, and exits
 * with 1 if there is one.
 */
import { globSync, readFileSync } from "node:fs";
import { TextlintKernel } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import { sentences } from "./sentences.ts";

const PAGES = globSync(["*.md", "{docs,examples,.github}/**/*.md"]);

/** Pages that are not checked, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "docs/reference/configuration.md": "made from src/shared/config/schema, whose descriptions are being rewritten",
  "docs/reference/cli.md": "made from src/cli, whose help is being rewritten",
  "docs/reference/errors.md": "made from src/shared/errors.ts, whose titles are being rewritten",
  "docs/reference/metrics.md": "made from the metrics' help, which is being rewritten",
};

const kernel = new TextlintKernel();
let count = 0;
for (const page of PAGES.filter((one) => !(one in EXCEPTIONS)).sort()) {
  const { messages } = await kernel.lintText(readFileSync(page, "utf8"), {
    ...{ filePath: page, ext: ".md" },
    plugins: [{ pluginId: "markdown", plugin: markdown.default }],
    rules: [{ ruleId: "sentences", rule: sentences }],
  });
  for (const { line, message } of messages) console.log(`${page}:${line}: ${message}`);
  count += messages.length;
}
if (count > 0) process.exitCode = 1;
