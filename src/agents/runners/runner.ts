import type { TurnUsage } from "./turnUsage.ts";

export interface AgentMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** A part of a turn that a runner reports while the turn runs. */
export type TurnEvent =
  | { readonly type: "message.delta"; readonly delta: string }
  /** `preview` is the beginning of the tool's input, which may hold secrets. */
  | { readonly type: "tool.started"; readonly tool: string; readonly preview: string }
  /** `ms` is null if the start was not reported. */
  | { readonly type: "tool.completed"; readonly tool: string; readonly ms: number | null; readonly error: boolean }
  /** The usage of the turn so far, as the program reports it while it works. */
  | { readonly type: "usage"; readonly usage: TurnUsage }
  /** A line of standard error, with its line end. */
  | { readonly type: "log"; readonly text: string };

/** One request to an agent, which it answers with one reply. */
export interface AgentTurn {
  readonly kind: "run" | "heartbeat";
  /** In order: an optional system message, then the conversation. The last message is the user's. */
  readonly messages: readonly AgentMessage[];
  /** The model's id, already resolved from an alias. */
  readonly model?: string | undefined;
  readonly thinking?: string | undefined;
  /** Environment variables for programs that the runner starts: SIGNALBOX_JOB_ID, SIGNALBOX_URL, … */
  readonly env: Readonly<Record<string, string>>;
  /** Called at most once with the usage that the server or program reports, also before the turn fails. */
  readonly onUsage?: ((usage: TurnUsage) => void) | undefined;
  /** Called at most once with the end of what a program wrote to standard error, at most 4 KiB, also before the turn fails. */
  readonly onStderr?: ((text: string) => void) | undefined;
  /** Called with what the agent does, as far as the server or program reports it. It must not throw. */
  readonly onEvent?: ((event: TurnEvent) => void) | undefined;
}

export interface AgentReply {
  readonly text: string;
  /** Set when the model reached its length limit, so that the end of the text is missing. */
  readonly isCutOff?: boolean;
}

/** Runs turns. One runner serves many turns at the same time. */
export interface AgentRunner {
  /**
   * Runs one turn. After an abort the promise rejects only once everything that the turn started has ended.
   * @throws AppError agent_unavailable (transient; with retryAfterSeconds if the server gave it), agent_failed (permanent),
   *   timeout (the signal was aborted for another reason than an AppError), or the signal's reason if that is an AppError.
   *   The error has no cause, and its detail contains no prompt, reply, key or body: errors of libraries quote them. Its
   *   `quote` is the model server's own sentence.
   */
  run(turn: AgentTurn, signal: AbortSignal): Promise<AgentReply>;
}
