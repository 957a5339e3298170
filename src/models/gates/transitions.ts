import type { Action } from "../../wire/gate.ts";
import type { GateDoc } from "./gate.ts";
import { defaultContent } from "./question.ts";

/**
 * The states of a gate, and the fields that each transition sets in the one update that makes it. Whatever must not be lost when
 * a process dies right after a transition belongs here.
 *
 *            a person answers
 *          ┌──────────────────────────► answered    action, content and name of the person
 *          │ `expiresAt` has passed
 *   open ──┼──────────────────────────► expired     action `onExpiry`; `accept` fills the form from its defaults
 *    ▲ │   │ the caller withdraws it, or its job ended a day ago
 *    └─┘   └──────────────────────────► withdrawn
 *   a change of the question: `revision` + 1
 *
 * Every other state is final. An open gate of a job that has ended is shown as withdrawn.
 */

/** The fields of a gate that opens. */
export const opened = (
  gate: Omit<GateDoc, "status" | "action" | "content" | "answeredBy" | "createdAt" | "answeredAt" | "revision">,
  now: Date,
): GateDoc => ({
  ...gate,
  status: "open",
  action: null,
  content: null,
  answeredBy: null,
  createdAt: now,
  answeredAt: null,
  revision: 1,
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
  action,
  content,
  answeredBy,
  answeredAt: now,
});

/** The fields of a gate whose time has passed. */
export const expired = ({ onExpiry, requestedSchema }: GateDoc) => ({
  status: "expired" as const,
  action: onExpiry,
  content: onExpiry === "accept" ? defaultContent(requestedSchema) : null,
  answeredBy: "expiry",
});

/** The fields of a gate that is withdrawn. */
export const withdrawn = () => ({ status: "withdrawn" as const });
