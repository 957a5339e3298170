import { type CommandSettings, commandRunner } from "./command.ts";
import { echoRunner } from "./echo.ts";
import { type OpenAiSettings, openAiRunner } from "./openai.ts";
import type { AgentRunner } from "./runner.ts";

/** The settings of the kinds that have any, as under `agents.runners`. */
export interface RunnerSettings {
  readonly openai?: OpenAiSettings | undefined;
  readonly command?: CommandSettings | undefined;
}

/**
 * The runner of a kind.
 * @param environment what programs that a runner starts may be given a part of
 * @param programGraceMs how long such a program has between SIGTERM and SIGKILL
 * @throws AppError agent_failed when the settings cannot be used
 */
export function createRunner(
  kind: "echo" | "openai" | "command",
  settings: RunnerSettings,
  environment: Readonly<Record<string, string | undefined>>,
  programGraceMs?: number,
): AgentRunner {
  switch (kind) {
    case "echo":
      return echoRunner;
    case "openai":
      return openAiRunner(settings.openai ?? {});
    case "command":
      return commandRunner(settings.command, environment, programGraceMs);
  }
}
