import { isDeepStrictEqual } from "node:util";
import type { HookCall, Mapping } from "../../hooks/mappings/mapping.ts";
import { mappingsNamed } from "../../hooks/mappings/mapping.ts";
import { acceptsBody, type BodyKind, decodeBody, parseBody } from "../../hooks/mappings/requestBody.ts";
import { type Considered, noMapping, selectMapping } from "../../hooks/mappings/selectMapping.ts";
import type { HookRequestDoc } from "../../models/intake/hookRequest.ts";
import type { Scope } from "../../shared/access/scopes.ts";
import { AppError, invalidField } from "../../shared/errors.ts";
import type { RequestHead } from "../auth/withoutSecrets.ts";

/** Maximum size of a decoded body in bytes: the largest that a mapping can allow. */
const MAX_DECODED_BYTES = 8 * 1024 * 1024;

/** A call with the kind of its body, which decides the mappings that take it. */
export interface KeptCall {
  readonly call: HookCall;
  readonly kind: BodyKind;
}

/** Returns the head of a kept request. */
export const headOf = ({ head }: Pick<HookRequestDoc, "head">): RequestHead => JSON.parse(head) as RequestHead;

/** Returns what the media type of a request says its body is. */
export function kindOf(contentType: string | null): BodyKind {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  return type === "text/plain" ? "text/plain" : type === "application/x-www-form-urlencoded" ? "form" : "json";
}

/** Returns a kept request as the call that its mapping received. @throws AppError request_state_conflict without a body */
export async function callOf(request: HookRequestDoc): Promise<KeptCall> {
  const { body, hook, contentType } = request;
  if (!body) {
    throw new AppError("request_state_conflict", {
      detail: "The request was refused, so that its body is not kept. Let the sender send it again.",
    });
  }
  const head = headOf(request);
  const coding = String(head.headers["content-encoding"] ?? "identity").toLowerCase();
  const known = coding === "x-gzip" ? "gzip" : coding === "gzip" || coding === "deflate" ? coding : "identity";
  const decoded = await decodeBody(Buffer.from(body.value()), known, MAX_DECODED_BYTES);
  const kind = kindOf(contentType);
  return { call: { ...head, path: hook, payload: parseBody(decoded, kind) }, kind };
}

/** The mapping for a request, and those that were compared with it. */
export interface SelectedMapping {
  /** Undefined if none takes the request. */
  readonly mapping: Mapping | undefined;
  readonly considered: readonly Considered[];
  /** Whether the caller has named the mapping, which was compared with nothing then. */
  readonly isNamed?: boolean;
  /** Why no mapping was compared with the request; null otherwise. */
  readonly reason: string | null;
}

/**
 * Selects the mapping for a kept or pasted request by the current configuration. No sender is authenticated: the verdict at the
 * arrival of a kept request counts, because the time of its signature has passed.
 * @param key names the mapping; without it the mappings with the name of the hook are compared with the request
 * @throws AppError invalid_body if there is no such mapping
 */
export function selectFor(
  mappings: readonly Mapping[],
  { call, kind }: KeptCall,
  key: string | undefined,
  now: Date,
): SelectedMapping {
  if (key === undefined) {
    const named = mappingsNamed(mappings, call.path);
    const takers = named.filter((mapping) => acceptsBody(mapping, kind));
    const reason = named.length === 0 ? noMapping(mappings, call.path) : takers.length === 0 ? otherType(kind) : null;
    return { ...selectMapping(takers, call, now), reason };
  }
  const mapping = mappings.find((one) => one.key === key);
  if (mapping) return { mapping, considered: [{ mapping, unmet: null, reason: null }], isNamed: true, reason: null };
  const known = mappings.map((one) => one.key).join(", ");
  throw invalidField("mapping", `must be the name of a mapping: ${known || "there is none"}`);
}

/**
 * Returns the scopes of which a caller needs one to replay a request through a mapping; none for a mapping of the request's own
 * hook and sender, which has proven itself at arrival.
 */
export function scopesForReplay(
  mappings: readonly Mapping[],
  request: Pick<HookRequestDoc, "hook" | "mapping" | "signature">,
  mapping: Mapping,
): readonly Scope[] {
  const original = mappings.find(({ key }) => key === request.mapping);
  const isSameSender = original
    ? isDeepStrictEqual(original.auth, mapping.auth)
    : (mapping.auth?.type ?? "hook-token") === (request.signature?.type ?? "hook-token");
  if (isSameSender && mappingsNamed(mappings, request.hook).includes(mapping)) return [];
  const path = mapping.match?.path;
  return path === undefined ? ["admin"] : ["admin", `hooks:${path}`];
}

const otherType = (kind: BodyKind): string =>
  `The mappings with this name take no body of the type ${kind}: set accept in the mapping, or send JSON.`;
