/**
 * Checks the sentences of the documents by the house style: `npm run prose`. Prints each fault with its place, and exits
 * with 1 if there is one.
 */
import { globSync, readFileSync } from "node:fs";
import { faultsIn } from "./sentences.ts";

const PAGES = globSync(["*.md", "{docs,examples,.github,bench,clients}/**/*.md"]);

for (const page of PAGES.sort()) {
  for (const { line, message } of faultsIn(readFileSync(page, "utf8"))) {
    console.log(`${page}:${line}: ${message}`);
    process.exitCode = 1;
  }
}
