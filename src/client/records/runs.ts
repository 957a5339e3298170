import type { Delivery } from "./deliveries.ts";
import type { ReturnOf } from "./jobs.ts";

/** Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with milliseconds. */

/** The usage of agent runs. */
export interface Usage {
  /** All tokens of the prompts, cached ones included. Null if it was not reported. */
  inputTokens: number | null;
  /** The part of `inputTokens` that was read from a cache. Null if it was not reported. */
  cachedInputTokens: number | null;
  /** All generated tokens, those of reasoning included. Null if it was not reported. */
  outputTokens: number | null;
  /** The part of `outputTokens` that was used for reasoning. Null if it was not reported. */
  reasoningTokens: number | null;
  /** Cost in US dollars as the program reported it; null if none did. It is never estimated. */
  costUsd: number | null;
}

/** The status of a run. */
export type RunStatus = "queued" | "waiting" | "running" | "completed" | "failed" | "dropped";

/** Why a run failed. */
export interface RunError {
  /** One of the error codes at /docs/errors. */
  code: string;
  /**
   * The problem and how to correct it. A second line holds the words of the model server; a request with the hook token
   * does not get it.
   */
  message: string;
}

/** An attempt of a run that failed. */
export interface FailedRunAttempt {
  /** The number of the attempt. */
  attempt: number;
  /** Why the attempt failed. */
  error: RunError;
  /** The end of what the program of this attempt wrote to standard error, at most 4 KiB. */
  stderr?: string;
  /** When the attempt started. */
  startedAt: string;
  /** When the attempt failed. */
  endedAt: string;
}

/** A placeholder that had no value, and the path of a value of the request that is spelled alike. */
export interface MissingValue {
  /** The path between the braces of the template. */
  path: string;
  /** The path of a value of the request that is spelled alike; null if there is none. */
  didYouMean: string | null;
}

/** Why a queued run has not started. */
export interface WaitsFor {
  /**
   * `run`: an earlier run of the session. `session`: another turn in the session. `time`: the pause after a failed
   * attempt. `worker`: a worker with a free place. `answer`: a person's answer to the question of a budget.
   */
  kind: "run" | "session" | "time" | "worker" | "answer";
  /**
   * The earliest run of the session that has not ended for `run`. For `answer` the run on whose job the question is:
   * they have the same id. Otherwise null.
   */
  runId: string | null;
  /** The earliest time of the next attempt; null unless `kind` is `time`. */
  notBefore: string | null;
}

/** A run as in live events. */
export interface RunSummary {
  /** Identifies the run. */
  runId: string;
  /**
   * `agent`: a run of the agent. `wake`: an event for the main session. `return`: a run with the news of jobs that the
   * session started. `job`: a report of a job, without an agent.
   */
  kind: "agent" | "wake" | "return" | "job";
  /** The job that it reported; present with `kind: job`. */
  jobId?: string;
  /** Name from the request or the mapping, for people. */
  name: string | null;
  /** Name of the mapping that made the run; null for a request to the agent hook. */
  mapping: string | null;
  /** The conversation of the run. Null if the request is authenticated with the hook token. */
  sessionKey: string | null;
  /** The agent of `agents.list`; null for that of `agents.defaults`, and until the mapping has been applied. */
  agentId: string | null;
  /**
   * `waiting`: a budget is used up, and a person decides whether the run goes on. `dropped`: the transform of the
   * mapping decided that the request needs no run.
   */
  status: RunStatus;
  /** Number of attempts so far. */
  attempts: number;
  /** Why the run failed; null otherwise. */
  error: RunError | null;
  /** When the request was accepted. */
  createdAt: string;
  /** When the latest attempt started. */
  startedAt: string | null;
  /** When the run ended. */
  endedAt: string | null;
}

/** A run of an agent, as the service returns it. */
export interface Run extends RunSummary {
  /** The answer of the agent, or what it had written when a budget ended its turn; null otherwise. */
  reply: string | null;
  /** Whether the end of the reply is missing, because the model reached its length limit. */
  replyCutOff: boolean;
  /**
   * Sum of what all attempts used, failed ones included, as the model server or the program reported it. Null if
   * nothing was reported.
   */
  usage: Usage | null;
  /** The deliveries of the reply to chat channels. */
  deliveries: Delivery[];
  /** The kept request that the run was made of: `GET /api/hooks/requests/{requestId}`. Null if it was not kept. */
  requestId: string | null;
  /** The kept request of which the run is a replay; null for other runs. */
  replayOf: string | null;
  /** The `runId` of the ended run whose request this run repeats; null for other runs. */
  againOf: string | null;
  /** The transitions of jobs of which a run of the kind `return` has the news; empty for other runs. */
  returnOf: ReturnOf[];
  /** The latest 20 failed attempts, oldest first. Only in the response for a single run, if an attempt has failed. */
  failedAttempts?: FailedRunAttempt[];
  /**
   * The placeholders of the mapping that had no value, at most 20. Only in the response for a single run, if there are
   * any, and not with the hook token.
   */
  missingValues?: MissingValue[];
  /**
   * The end of what the program of the latest attempt wrote to standard error, at most 4 KiB, with the values of its
   * variables masked. Only in the response for a single run, if it wrote something, and not with the hook token.
   */
  stderr?: string;
  /**
   * Why the run has not started. Only in the response for a single run that is queued or waiting, and not with the hook
   * token.
   */
  waitsFor?: WaitsFor;
}

/** The input of a run, and the call of a mapped hook that caused it. */
export interface RunRequest {
  /** Null until the mapping has been applied, and for an event of the main session. */
  request: {
    message: string;
    wakeMode: string;
    deliver: boolean;
    channel: string;
    to: string | null;
    model: string | null;
    thinking: string | null;
    timeoutSeconds: number;
    trackAsJob: boolean;
    agentId?: string;
    instructions?: string;
    allowUnsafe?: boolean;
  } | null;
  /** The request to the mapped hook; null for other runs. */
  call: { mapping: string; path: string | null; payload: unknown } | null;
}
