/** The usage of agent runs, as model servers and programs report it. A member is null if nothing reported it. */
export interface Usage {
  /** Includes cached tokens. */
  inputTokens: number | null;
  cachedInputTokens: number | null;
  /** Includes reasoning tokens. */
  outputTokens: number | null;
  reasoningTokens: number | null;
  /** US dollars. Never estimated. */
  costUsd: number | null;
}

export type RunStatus = "queued" | "running" | "completed" | "failed" | "dropped";

/** A run of a hook as in live events. */
export interface RunSummary {
  runId: string;
  /** `wake` is an event of the main session. */
  kind: "agent" | "wake";
  name: string | null;
  /** The mapping that made the run; null for a request to the agent hook. */
  mapping: string | null;
  sessionKey: string;
  status: RunStatus;
  attempts: number;
  error: { code: string; message: string } | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

/** A failed attempt of a run. */
export interface FailedRunAttempt {
  attempt: number;
  error: NonNullable<RunSummary["error"]>;
  /** The end of standard error of the program, if it wrote something. */
  stderr?: string;
  startedAt: string;
  endedAt: string;
}

export interface Run extends RunSummary {
  reply: string | null;
  /** Whether the end of the reply is missing, because the model reached its length limit. */
  replyCutOff: boolean;
  /** The usage of all attempts together; null if nothing was reported. */
  usage: Usage | null;
  deliveries: Delivery[];
  /** The kept request that the run was made of; null if it was not kept. */
  requestId: string | null;
  /** The kept request of which the run is a replay; null for other runs. */
  replayOf: string | null;
  /** The ended run whose request this run repeats; null for other runs. */
  againOf: string | null;
  /** The latest 20 failed attempts, oldest first; only in the response for a single run, if an attempt has failed. */
  failedAttempts?: FailedRunAttempt[];
  /** The placeholders of the mapping that had no value; only in the response for a single run, if there are any. */
  missingValues?: MissingValue[];
  /**
   * The end of what the program of the latest attempt wrote to standard error; only in the response for a single run, if it
   * wrote something.
   */
  stderr?: string;
  /** Only in the response for a single run that is queued. */
  waitsFor?: WaitsFor;
}

/** A placeholder that had no value, and the path of a value of the request that is spelled alike. */
export interface MissingValue {
  path: string;
  didYouMean: string | null;
}

/** Why a queued run has not started. */
export interface WaitsFor {
  /** An earlier run of the session, another turn in it, the pause after a failed attempt, or a worker with a free place. */
  kind: "run" | "session" | "time" | "worker";
  /** Null unless `kind` is `run`. */
  runId: string | null;
  /** Null unless `kind` is `time`. */
  notBefore: string | null;
}

/** The request to the agent, and the call of a mapped hook that caused it. */
export interface RunRequest {
  request: {
    message: string;
    /** The operator's instructions, which precede the message. */
    instructions?: string;
    model: string | null;
    thinking: string | null;
    timeoutSeconds: number;
    deliver: boolean;
    channel: string;
    to: string | null;
    wakeMode: WakeMode;
    trackAsJob: boolean;
    /** Whether the message is the prompt itself, without the fence around untrusted text. */
    allowUnsafe?: boolean;
  } | null;
  /** The path and the payload are null once the mapping has been applied. */
  call: { mapping: string; path: string | null; payload: unknown } | null;
}

/** `channel` is a text to a chat, `webhook` a signed request, `wake` an event of the main session. */
export type DeliveryKind = "channel" | "webhook" | "wake";

export type DeliveryState = "pending" | "sent" | "failed";

export interface Delivery {
  deliveryId: string;
  /** The run; null for a turn of the main session. */
  runId: string | null;
  kind: DeliveryKind;
  /** The rule whose event is delivered; null for a reply and for a `callbackUrl`. */
  rule: string | null;
  /** Null for a reply. */
  eventType: string | null;
  /** The channel of a text; the kind for other kinds. */
  channel: string;
  /** The recipient; for a webhook its rule, or the host of the `callbackUrl`. */
  to: string | null;
  /** The first words of the text; null for a webhook. */
  preview: string | null;
  state: DeliveryState;
  attempts: number;
  /** The status code of the latest response to a webhook. */
  lastStatus: number | null;
  parts: { state: "pending" | "sending" | "sent"; id: string | null }[];
  /** Whether a part may have arrived twice. */
  maybeTwice: boolean;
  /** Why the delivery failed or waits. */
  reason: string | null;
  notBefore: string | null;
  createdAt: string;
  sentAt: string | null;
}

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

export type WakeMode = "now" | "next-heartbeat";

export interface AgentHook {
  message: string;
  name?: string;
  sessionKey?: string;
  wakeMode?: WakeMode;
  deliver?: boolean;
  channel?: string;
  to?: string;
  model?: string;
  thinking?: string;
  timeoutSeconds?: number;
  /** Address to which the end of the run is sent as a signed webhook; its host must be allowed by the operator. */
  callbackUrl?: string;
}
