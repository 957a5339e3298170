import { type CommandSettings, commandRunner } from "./runners/command.ts";
import { echoRunner } from "./runners/echo.ts";
import { type OpenAiSettings, openAiRunner } from "./runners/openai.ts";

export interface AgentMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** One question to an agent. */
export interface AgentTurn {
  readonly kind: "run" | "heartbeat";
  /** In order; an optional system message first, then the conversation; the last one is the user's. */
  readonly messages: readonly AgentMessage[];
  /** The model's id, already resolved from an alias. */
  readonly model?: string | undefined;
  readonly thinking?: string | undefined;
  /** For programs that the runner starts: SIGNALBOX_JOB_ID, SIGNALBOX_URL, … */
  readonly env: Readonly<Record<string, string>>;
}

export interface AgentReply {
  readonly text: string;
}

/** What carries out turns; one serves many turns at the same time. */
export interface AgentRunner {
  /**
   * Carries out one turn. When the signal fires, it settles only after what it began is really over.
   * @throws AppError agent_unavailable (may pass by itself; with retryAfterSeconds where that was said), agent_failed
   *   (will not), timeout (the signal fired because of time), or the signal's reason when that is an AppError. Its detail
   *   holds no prompt, reply, key or body, and it has no cause: what libraries throw quotes them.
   */
  run(turn: AgentTurn, signal: AbortSignal): Promise<AgentReply>;
}

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
