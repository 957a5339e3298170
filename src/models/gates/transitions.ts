import type { Action, GateDoc } from "./gate.ts";

/**
 * The fields that each change of a gate's status sets, in the one update that makes the change. Whatever must not be lost when a
 * process dies right after a transition belongs here.
 */

/** The fields of a gate that opens, besides its question. */
export const opened = (gate: Pick<GateDoc, "_id" | "jobId" | "job" | "key">, now: Date) => ({
  ...gate,
  status: "open" as const,
  action: null,
  content: null,
  answeredBy: null,
  createdAt: now,
  answeredAt: null,
});

/** An answer that was checked against the schema of its gate. */
export interface GateAnswer {
  readonly action: Action;
  /** JSON text. */
  readonly content: string | null;
  readonly answeredBy: string;
}

/** The fields of a gate that a person answers. */
export const answered = ({ action, content, answeredBy }: GateAnswer, now: Date) => ({
  status: "answered" as const,
  ...{ action, content, answeredBy },
  answeredAt: now,
});

/** The fields of a gate whose time has passed. */
export const expired = ({ onExpiry }: GateDoc) => ({
  status: "expired" as const,
  action: onExpiry,
  answeredBy: "expiry",
});

/** The fields of a gate that is withdrawn. */
export const withdrawn = () => ({ status: "withdrawn" as const });
