import { configKeys } from "../../src/config/config.ts";
import { expectRecorded } from "./recorded.ts";
import { withoutWords } from "./withoutWords.ts";

describe("the configuration", () => {
  it("has the recorded keys, each with its type, limits, environment variable and default", () => {
    const keys = configKeys().map(([key, node]) => [key, withoutWords(node)]);

    expectRecorded("configuration", Object.fromEntries(keys));
  });
});
