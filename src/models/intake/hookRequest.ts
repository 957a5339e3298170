import { mongo } from "mongoose";
import { OUTCOMES, SIGNATURE_TYPES, VERDICTS } from "../../wire/hookRequest.ts";
import {
  binary,
  boolean,
  date,
  free,
  listOf,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Stored,
  schemaOf,
  string,
} from "../db/fields.ts";

/** How a sender proved itself, and with which result when the request arrived. */
export const RequestSignature = object({ type: oneOf(SIGNATURE_TYPES), verdict: oneOf(VERDICTS) });
export type RequestSignature = Stored<typeof RequestSignature>;

/** A request to a hook, as it is kept for people who look for its outcome. */
export const HookRequestDoc = object({
  /** The requestId, a UUID. */
  _id: string,
  createdAt: date,
  /** The name of the hook in the URL. */
  hook: string,
  /** The key of the mapping that took the request or filtered it; null if none did. */
  mapping: nullable(string),
  outcome: oneOf(OUTCOMES),
  /** The HTTP status of the response; null for a mail. */
  status: nullable(number),
  /** The error code of a refused request. */
  code: nullable(string),
  /** Why a request was refused or filtered, for people. */
  reason: nullable(string),
  signature: nullable(RequestSignature),
  address: nullable(string),
  contentType: nullable(string),
  /** Headers, url and query as JSON, without secrets. As fields of a document their names could clash with MongoDB's. */
  head: string,
  /** The bytes of the body as they were sent; null for a refused request. */
  body: nullable(binary),
  /** The size of the body as it was sent; null if it is unknown. */
  bodyBytes: nullable(number),
  /** The approximate size of this document in bytes. */
  storedBytes: number,
  runIds: listOf(string),
  /** Those of its runs that have failed, and those that the transform dropped. */
  failedRuns: listOf(string),
  droppedRuns: listOf(string),
  /** The jobs that its runs reported; missing if there are none. */
  jobIds: optional(listOf(string)),
  /** Whether the request repeats an earlier one, whose runs it returned. */
  repeated: boolean,
  /** Set until retention has seen that its first run exists. Such a request counts only if the run exists. */
  unconfirmed: optional(free<true>()),
});
export type HookRequestDoc = Stored<typeof HookRequestDoc>;

export const hookRequestSchema = schemaOf(HookRequestDoc)
  .index({ createdAt: -1, _id: -1 })
  .index({ outcome: 1, createdAt: -1, _id: -1 })
  .index({ mapping: 1, createdAt: -1, _id: -1 })
  .index({ createdAt: 1 }, { partialFilterExpression: { unconfirmed: true } })
  // Finds the requests of runs that are deleted.
  .index({ runIds: 1 });

/** A request to keep, before its runs are known. */
export type NewHookRequest = Pick<
  HookRequestDoc,
  "_id" | "createdAt" | "hook" | "mapping" | "outcome" | "status" | "signature" | "address" | "contentType" | "head"
> &
  Partial<Pick<HookRequestDoc, "code" | "reason" | "bodyBytes" | "runIds" | "repeated" | "unconfirmed">> & {
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
