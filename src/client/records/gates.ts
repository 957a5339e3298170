import type { FreeObject } from "./jobs.ts";

export type GateStatus = "open" | "answered" | "expired" | "withdrawn";

export type GateAction = "accept" | "decline" | "cancel";

/** A question to a person, attached to a job. */
export interface Gate {
  gateId: string;
  jobId: string;
  key: string;
  /** Grows with each change of the question. Send it with the answer. */
  revision: number;
  title: string;
  message: string | null;
  /** The form as a JSON Schema: MCP's `requestedSchema`. */
  requestedSchema: FreeObject | null;
  status: GateStatus;
  action: GateAction | null;
  content: FreeObject | null;
  answeredBy: string | null;
  createdAt: string;
  answeredAt: string | null;
  expiresAt: string | null;
  /** The action if it expires. */
  onExpiry: GateAction;
  /** Only in the responses to `get` and to the opening: present once cancellation of the job was requested. */
  cancelRequested?: true;
}

export interface GateAnswer {
  action: GateAction;
  /** The entered values, if the action is `accept`. */
  content?: FreeObject | null;
  /** A name for people. */
  answeredBy?: string;
  /** The `revision` of the gate that was shown: the answer is refused if the gate has changed since. */
  revision?: number;
}
