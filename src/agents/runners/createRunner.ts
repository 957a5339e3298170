import { unfenced } from "../prompt/fence.ts";
import { type CommandSettings, commandRunner } from "./command.ts";
import { type OpenAiSettings, openAiRunner } from "./openai.ts";
import type { AgentRunner } from "./runner.ts";
import { abortError } from "./turnErrors.ts";

/** The settings under `agents.runners`. The echo runner has none. */
interface RunnerSettings {
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

const SHOWN_CHARACTERS = 200;

/** The runner while no agent is configured: its reply repeats the beginning of the message. */
const echoRunner: AgentRunner = {
  async run({ kind, messages }, signal) {
    if (signal.aborted) throw abortError(signal);
    if (kind === "heartbeat") return { text: "HEARTBEAT_OK" };
    const message = unfenced(messages.findLast(({ role }) => role === "user")?.content ?? "").trim();
    const characters = [...message.slice(0, 2 * SHOWN_CHARACTERS + 1)];
    const shown = characters.slice(0, SHOWN_CHARACTERS).join("");
    return { text: `The echo runner received: ${shown}${characters.length > SHOWN_CHARACTERS ? "…" : ""}` };
  },
};
