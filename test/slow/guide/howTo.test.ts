import { globSync } from "node:fs";
import { followPages } from "../../guide/followPages.ts";

describe("the commands and programs of the how-to pages", () => {
  followPages(globSync("docs/how-to/*.md").sort());
});
