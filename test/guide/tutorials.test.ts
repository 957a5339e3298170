import { globSync } from "node:fs";
import { followPages } from "./followPages.ts";

describe("the commands and programs of README and the tutorials", function () {
  this.timeout(120_000);

  followPages(["README.md", ...globSync("docs/tutorials/*.md").sort()]);
});
