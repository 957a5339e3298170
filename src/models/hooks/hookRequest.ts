import { mongo } from "mongoose";
import Type, { type Static } from "typebox";
import { BsonBinary, BsonDate, closedObject, defineCollection, nullable } from "../db/collection.ts";

/**
 * The outcome of a request. `accepted`: its runs were made, and none of them has failed. `dropped`: the transform dropped all
 * of them. `failed`: one of them has failed. `filtered`: no mapping wanted it. `refused`: it was answered with an error.
 */
export const OUTCOMES = ["accepted", "dropped", "failed", "filtered", "refused"] as const;
export type RequestOutcome = (typeof OUTCOMES)[number];

/** How a sender proved itself, and with which result when the request arrived. */
export const RequestSignature = closedObject({
  type: Type.Enum(["hook-token", "token", "github", "stripe", "slack", "standard-webhooks", "hmac", "sendgrid", "sns"]),
  verdict: Type.Enum(["valid", "missing", "malformed", "expired", "wrong"]),
});
export type RequestSignature = Static<typeof RequestSignature>;

/** A request to a hook, as it is kept for people who look for its outcome. */
export const HookRequestDoc = closedObject({
  /** The requestId, a UUID. */
  _id: Type.String(),
  createdAt: BsonDate,
  /** The name of the hook in the URL. */
  hook: Type.String(),
  /** The key of the mapping that took the request or filtered it; null if none did. */
  mapping: nullable(Type.String()),
  outcome: Type.Enum([...OUTCOMES]),
  /** The HTTP status of the response; null for a mail. */
  status: nullable(Type.Number()),
  /** The error code of a refused request. */
  code: nullable(Type.String()),
  /** Why a request was refused or filtered, for people. */
  reason: nullable(Type.String()),
  signature: nullable(RequestSignature),
  address: nullable(Type.String()),
  contentType: nullable(Type.String()),
  /** Headers, url and query as JSON, without secrets. As fields of a document their names could clash with MongoDB's. */
  head: Type.String(),
  /** The bytes of the body as they were sent; null for a refused request. */
  body: nullable(BsonBinary),
  /** The size of the body as it was sent; null if it is unknown. */
  bodyBytes: nullable(Type.Number()),
  /** The approximate size of this document in bytes. */
  storedBytes: Type.Number(),
  runIds: Type.Array(Type.String()),
  /** Those of its runs that have failed, and those that the transform dropped. */
  failedRuns: Type.Array(Type.String()),
  droppedRuns: Type.Array(Type.String()),
  /** Whether the request repeats an earlier one, whose runs it returned. */
  repeated: Type.Boolean(),
  /** Set until retention has seen that its first run exists. Such a request counts only if the run exists. */
  unconfirmed: Type.Optional(Type.Literal(true)),
});
export type HookRequestDoc = Static<typeof HookRequestDoc>;

export const hookRequestCollection = defineCollection(HookRequestDoc, [
  { keys: { createdAt: -1, _id: -1 } },
  { keys: { outcome: 1, createdAt: -1, _id: -1 } },
  { keys: { mapping: 1, createdAt: -1, _id: -1 } },
  { keys: { createdAt: 1 }, partialFilterExpression: { unconfirmed: true } },
  // Finds the requests of runs that are deleted.
  { keys: { runIds: 1 } },
]);

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
