import { mongo } from "mongoose";
import { OUTCOMES, SIGNATURE_TYPES, VERDICTS } from "../../wire/hookRequest.ts";
import * as f from "../db/fields.ts";

/** How a sender proved itself, and with which result when the request arrived. */
export const RequestSignature = f.object({ type: f.oneOf(SIGNATURE_TYPES), verdict: f.oneOf(VERDICTS) });
export type RequestSignature = f.Stored<typeof RequestSignature>;

/** A request to a hook, as it is kept for people who look for its outcome. */
export const HookRequestDoc = f.object({
  /** The requestId, a UUID. */
  _id: f.string,
  createdAt: f.date,
  /** The name of the hook in the URL. */
  hook: f.string,
  /** The key of the mapping that took the request or filtered it; null if none did. */
  mapping: f.nullable(f.string),
  outcome: f.oneOf(OUTCOMES),
  /** The event and its object, as the request names them; missing if it does not, or was refused. */
  event: f.optional(f.string),
  object: f.optional(f.string),
  /** The HTTP status of the response; null for a mail. */
  status: f.nullable(f.number),
  /** The error code of a refused request. */
  code: f.nullable(f.string),
  /** Why a request was refused or filtered, for people. */
  reason: f.nullable(f.string),
  signature: f.nullable(RequestSignature),
  address: f.nullable(f.string),
  contentType: f.nullable(f.string),
  /** Headers, url and query as JSON, without secrets. As fields of a document their names could clash with MongoDB's. */
  head: f.string,
  /** The bytes of the body as they were sent; null for a refused request. */
  body: f.nullable(f.binary),
  /** The size of the body as it was sent; null if it is unknown. */
  bodyBytes: f.nullable(f.number),
  /** The approximate size of this document in bytes. */
  storedBytes: f.number,
  runIds: f.listOf(f.string),
  /** Those of its runs that have failed, and those that the transform dropped. */
  failedRuns: f.listOf(f.string),
  droppedRuns: f.listOf(f.string),
  /** The jobs that its runs reported; missing if there are none. */
  jobIds: f.optional(f.listOf(f.string)),
  /** Whether the request repeats an earlier one, whose runs it returned. */
  repeated: f.boolean,
  /** Set until retention has seen that its first run exists. Such a request counts only if the run exists. */
  unconfirmed: f.optional(f.free<true>()),
});
export type HookRequestDoc = f.Stored<typeof HookRequestDoc>;

/** The index that counts requests by hook, hour and outcome without reading their bodies. */
export const HOOK_FIGURES_INDEX = { createdAt: -1, hook: 1, outcome: 1, _id: -1 } as const;

export const hookRequestSchema = f
  .schemaOf(HookRequestDoc)
  .index({ createdAt: -1, _id: -1 })
  .index({ outcome: 1, createdAt: -1, _id: -1 })
  .index({ mapping: 1, createdAt: -1, _id: -1 })
  .index({ hook: 1, createdAt: -1, _id: -1 })
  .index(HOOK_FIGURES_INDEX)
  .index({ createdAt: 1 }, { partialFilterExpression: { unconfirmed: true } })
  // Finds the requests of runs that are deleted.
  .index({ runIds: 1 });

/** A request to keep, before its runs are known. */
export type NewHookRequest = Pick<
  HookRequestDoc,
  "_id" | "createdAt" | "hook" | "mapping" | "outcome" | "status" | "signature" | "address" | "contentType" | "head"
> &
  Partial<
    Pick<HookRequestDoc, "code" | "reason" | "event" | "object" | "bodyBytes" | "runIds" | "repeated" | "unconfirmed">
  > & {
    readonly body: Uint8Array | null;
  };

/** The size of a document without its head and body, which is nearly constant. */
const FIXED_BYTES = 700;

/** Returns the document of a request. */
export function newHookRequest({ body, ...request }: NewHookRequest): HookRequestDoc {
  const bodyBytes = body?.length ?? request.bodyBytes ?? null;
  return {
    code: null,
    reason: null,
    runIds: [],
    failedRuns: [],
    droppedRuns: [],
    repeated: false,
    ...request,
    body: body && new mongo.Binary(body),
    bodyBytes,
    storedBytes: FIXED_BYTES + Buffer.byteLength(request.head) + (body?.length ?? 0),
  };
}
