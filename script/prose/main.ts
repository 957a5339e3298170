/**
 * Checks the sentences of the documents and the beginnings of comments by the house style: `npm run prose`. Prints each fault
 * with its place, and exits with 1 if there is one.
 */
import { globSync, readFileSync } from "node:fs";
import { faultsIn, faultsInComments } from "./sentences.ts";

const PAGES = globSync(["*.md", "{docs,examples,.github,bench,clients}/**/*.md"]);
const SOURCES = globSync("{src,test,bench,script,examples}/**/*.{ts,tsx,mjs}", { exclude: ["**/node_modules/**"] });

const CHECKS = [
  [PAGES, faultsIn],
  [SOURCES, faultsInComments],
] as const;
for (const [files, faultsOf] of CHECKS) {
  for (const file of files.sort()) {
    for (const { line, message } of faultsOf(readFileSync(file, "utf8"))) {
      console.log(`${file}:${line}: ${message}`);
      process.exitCode = 1;
    }
  }
}
