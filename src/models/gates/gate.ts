import { ACTIONS, GATE_STATUSES, type Gate } from "../../wire/gate.ts";
import { date, nullable, number, object, objectId, oneOf, type Stored, schemaOf, string } from "../db/fields.ts";
import { unpackObject } from "../jobs/freeObject.ts";

/**
 * A question to a person, attached to a job. It is open until exactly one of an answer, its expiry or its withdrawal closes
 * it.
 */
const GateDoc = object({
  /** The gateId. */
  _id: string,
  jobId: string,
  /** The internal id of the job. A job that is created again under the same jobId has none of the gates of the former one. */
  job: objectId,
  key: string,
  /** The caller who opened the gate, as in the audit log. */
  openedBy: string,
  title: string,
  message: nullable(string),
  /** JSON text, as free objects are stored. */
  requestedSchema: nullable(string),
  /** The action of the gate if it expires. */
  onExpiry: oneOf(ACTIONS),
  status: oneOf(GATE_STATUSES),
  action: nullable(oneOf(ACTIONS)),
  /** JSON text. */
  content: nullable(string),
  answeredBy: nullable(string),
  createdAt: date,
  answeredAt: nullable(date),
  expiresAt: nullable(date),
  /** Grows with each change of the question, its form, `onExpiry` or `expiresAt`, so that an answer is never taken for one to another question. */
  revision: number,
});
export type GateDoc = Stored<typeof GateDoc>;

export const gateSchema = schemaOf(GateDoc)
  .index({ jobId: 1, job: 1, key: 1 }, { unique: true })
  .index({ createdAt: -1, _id: -1 })
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
