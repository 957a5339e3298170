import type { ReturnOf } from "./jobs.ts";

/** Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with milliseconds. */

/** A conversation of the agent. */
export interface Session {
  /** Identifies the conversation. */
  sessionKey: string;
  /** The agent of `agents.list` to which it belongs; null for that of `agents.defaults`. */
  agentId: string | null;
  /** When the latest turn started. */
  lastUsedAt: string;
  /** Whether a turn is running. */
  busy: boolean;
}

/** A message of a conversation. */
export interface Message {
  /** Identifies the message. */
  messageId: string;
  /** The run of the turn; null for a turn of the main session. */
  runId: string | null;
  /**
   * `user`: the prompt. `return`: the news of jobs that the session started, which nobody typed. `assistant`: the
   * reply.
   */
  role: "user" | "return" | "assistant";
  /** The text of the message. */
  content: string;
  /** The transitions of jobs that a message with the role `return` is about; empty for other messages. */
  returnOf: ReturnOf[];
  /** When the turn of the message ended. */
  createdAt: string;
}

/** An event that waits for the next turn of the main session. */
export interface WaitingEvent {
  /** Identifies the event. */
  eventId: string;
  /** The text of the event. */
  text: string;
  /** The source of the event. */
  source: string;
  /** When the event was accepted. */
  createdAt: string;
}
