import { type CommandSettings, commandRunner } from "./command.ts";
import { echoRunner } from "./echo.ts";
import { type OpenAiSettings, openAiRunner } from "./openai.ts";
import type { AgentRunner } from "./runner.ts";

/** The settings under `agents.runners`. The echo runner has none. */
export interface RunnerSettings {
  readonly openai?: OpenAiSettings | undefined;
  readonly command?: CommandSettings | undefined;
}

/**
 * Creates a runner.
 * @param environment this service's environment, from which programs get the permitted variables
 * @param programGraceMs time between SIGTERM and SIGKILL for programs that the runner starts
 * @throws AppError agent_failed if the settings cannot be used
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
