import { globSync } from "node:fs";
import { followPages } from "../../guide/followPages.ts";

describe("the commands and programs of the tutorials", () => {
  followPages(globSync("docs/tutorials/*.md").sort());
});
