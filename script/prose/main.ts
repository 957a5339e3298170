/**
 * Checks the sentences of the documents by the house style: `npm run prose`. Prints each fault with its place, and exits
 * with 1 if there is one.
 */
import { globSync, readFileSync } from "node:fs";
import { TextlintKernel } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import { sentences } from "./sentences.ts";

const PAGES = globSync(["*.md", "{docs,examples,.github,bench,clients}/**/*.md"]);

const kernel = new TextlintKernel();
let count = 0;
for (const page of PAGES.sort()) {
  const { messages } = await kernel.lintText(readFileSync(page, "utf8"), {
    ...{ filePath: page, ext: ".md" },
    plugins: [{ pluginId: "markdown", plugin: markdown.default }],
    rules: [{ ruleId: "sentences", rule: sentences }],
  });
  for (const { line, message } of messages) console.log(`${page}:${line}: ${message}`);
  count += messages.length;
}
if (count > 0) process.exitCode = 1;
