import { testPrompts } from "../../../e2e/agents/promptsOverTurns.ts";

describe("a prompt for an agent that replies with tokens, markers and headings, turn after turn", () =>
  testPrompts(20, { familiesEach: 10, kept: 10 }));
