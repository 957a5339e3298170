export interface Session {
  sessionKey: string;
  lastUsedAt: string;
  busy: boolean;
}

export interface Message {
  messageId: string;
  /** The run of the turn; null for a turn of the main session. */
  runId: string | null;
  role: "user" | "assistant";
  content: string;
  createdAt: string;
}

export interface WaitingEvent {
  eventId: string;
  text: string;
  source: string;
  createdAt: string;
}
