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
