import { globSync } from "node:fs";
import { followPages } from "./followPages.ts";

describe("the commands and programs of README and the tutorials", () => {
  followPages(["README.md", ...globSync("docs/tutorials/*.md").sort()]);
});
