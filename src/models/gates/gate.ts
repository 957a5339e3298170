import { ACTIONS, GATE_STATUSES, type Gate } from "../../wire/gate.ts";
import * as f from "../db/fields.ts";
import { unpackObject } from "../jobs/freeObject.ts";

/** The opener of gates about budgets, for whose answers runs wait. No token can have this name. */
export const BY_BUDGET = "a budget";

/**
 * A question to a person, attached to a job. It is open until exactly one of an answer, its expiry or its withdrawal closes
 * it.
 */
const GateDoc = f.object({
  /** The gateId. */
  _id: f.string,
  jobId: f.string,
  /** The internal id of the job. A job that is created again under the same jobId has none of the gates of the former one. */
  job: f.objectId,
  key: f.string,
  /** The caller who opened the gate, as in the audit log. */
  openedBy: f.string,
  title: f.string,
  message: f.nullable(f.string),
  /** JSON text, as free objects are stored. */
  requestedSchema: f.nullable(f.string),
  /** The action of the gate if it expires. */
  onExpiry: f.oneOf(ACTIONS),
  status: f.oneOf(GATE_STATUSES),
  action: f.nullable(f.oneOf(ACTIONS)),
  /** JSON text. */
  content: f.nullable(f.string),
  answeredBy: f.nullable(f.string),
  createdAt: f.date,
  answeredAt: f.nullable(f.date),
  expiresAt: f.nullable(f.date),
  /** Grows with each change of the question, its form, `onExpiry` or `expiresAt`, so that an answer is never taken for one to another question. */
  revision: f.number,
});
export type GateDoc = f.Stored<typeof GateDoc>;

export const gateSchema = f
  .schemaOf(GateDoc)
  .index({ jobId: 1, job: 1, key: 1 }, { unique: true })
  .index({ createdAt: -1, _id: -1 })
  .index({ jobId: 1, createdAt: -1, _id: -1 })
  .index({ status: 1, createdAt: -1, _id: -1 })
  .index({ expiresAt: 1 }, { partialFilterExpression: { status: "open" } });

/** Returns a gate as clients read it. */
export function viewGate(gate: GateDoc): Gate {
  return {
    gateId: gate._id,
    jobId: gate.jobId,
    key: gate.key,
    revision: gate.revision,
    title: gate.title,
    message: gate.message,
    requestedSchema: unpackObject(gate.requestedSchema),
    status: gate.status,
    action: gate.action,
    content: unpackObject(gate.content),
    answeredBy: gate.answeredBy,
    createdAt: gate.createdAt.toISOString(),
    answeredAt: gate.answeredAt?.toISOString() ?? null,
    expiresAt: gate.expiresAt?.toISOString() ?? null,
    onExpiry: gate.onExpiry,
  };
}
