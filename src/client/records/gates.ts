import type { FreeObject } from "./jobs.ts";

/** Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with milliseconds. */

/** The status of a gate. */
export type GateStatus = "open" | "answered" | "expired" | "withdrawn";

/** The decision of a person. */
export type GateAction = "accept" | "decline" | "cancel";

/** A question to a person, attached to a job. */
export interface Gate {
  /** Identifies the gate. Assigned by the service. */
  gateId: string;
  /** Identifies the job. Chosen by the client; percent-encode it in a URL. */
  jobId: string;
  /** Identifies the gate within its job. Chosen by the client. It can be used only once. */
  key: string;
  /** Grows with each change of the question, its form, `onExpiry` or `expiresAt`. Send it with the answer. */
  revision: number;
  /** The question in one line. */
  title: string;
  /** The facts that a person needs to decide; plain text. */
  message: string | null;
  /** The form as a JSON Schema; null if the answer is only an action. */
  requestedSchema: FreeObject | null;
  /** `open` until the gate is answered, expires or is withdrawn. */
  status: "open" | "answered" | "expired" | "withdrawn";
  /** The decision of the person, or `onExpiry` of a gate that has expired. */
  action: GateAction | null;
  /** The entered values: an object that fits `requestedSchema`. Only with the action `accept`. */
  content: FreeObject | null;
  /** The person who answered; `expiry` if nobody did in time; else null. */
  answeredBy: string | null;
  /** When the gate was opened. */
  createdAt: string;
  /** When the gate was answered; null if it was not. */
  answeredAt: string | null;
  /** When the gate expires if nobody has answered; null for never. */
  expiresAt: string | null;
  /** The action of the gate if it expires. */
  onExpiry: GateAction;
  /**
   * Present in the response to `PUT`, and to `GET` of one gate, once cancellation of the job was requested: stop
   * waiting for the answer.
   */
  cancelRequested?: true;
  /** Name of the job. Only in lists. */
  jobName?: string | null;
}

/** The answer to a gate. */
export interface GateAnswer {
  /** `accept`, `decline`, or `cancel` for neither: the three actions of MCP's elicitation. */
  action: GateAction;
  /** The entered values: an object that fits `requestedSchema`. Only with the action `accept`. */
  content?: FreeObject | null;
  /** The person who answers: a name for people. */
  answeredBy?: string;
  /**
   * The `revision` of the gate that was shown to the person. The answer is refused with 409 `gate_changed` if the gate
   * has changed since.
   */
  revision?: number;
}
