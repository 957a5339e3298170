import { testPrompts } from "./promptsOverTurns.ts";

/** Three replies contain every family once; test/slow has more turns. */
describe("a prompt for an agent that replies with tokens, markers and headings", () =>
  testPrompts(3, { familiesEach: 20, kept: 2 }));
