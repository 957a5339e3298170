import type { Context, Middleware, Next } from "koa";
import { BUILT_IN_HOOKS } from "../../config/mappings/mapping.ts";
import { type HookCall, hookName, type Mapping, mappingsNamed, readNamesOf } from "../../hooks/mappings/mapping.ts";
import { acceptsBody, parseBody } from "../../hooks/mappings/requestBody.ts";
import type { ReadNames } from "../../hooks/mappings/secretNames.ts";
import { describeFiltered, noMapping, type Selection, selectMapping } from "../../hooks/mappings/selectMapping.ts";
import type { RefusalReason } from "../../hooks/signatures/signature.ts";
import {
  findHeaderFault,
  findSnsMessage,
  type SenderAuth,
  type SenderRequest,
  type SenderVerification,
  verifySender,
} from "../../hooks/signatures/verifySender.ts";
import type { RequestSignature } from "../../models/intake/hookRequest.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { publicPath } from "../middleware/basePath.ts";
import { mapBodyError } from "../middleware/body.ts";
import { type HookBody, readHookBody } from "../middleware/hookBody.ts";
import type { MemoryBudget } from "../middleware/memoryBudget.ts";
import { requireScope } from "./authorize.ts";
import { expectsHandshake, hasClientState } from "./handshake.ts";
import { unknownHook } from "./hookNotFound.ts";
import { headerTokens, hookTokens, isOneOf, type Reject } from "./refusals.ts";
import type { SnsClient } from "./snsClient.ts";
import type { KnownToken, TokenTable } from "./tokenTable.ts";
import { withoutSecrets } from "./withoutSecrets.ts";

/** The parts of a request that are kept besides its call. */
interface ReceivedRequest {
  /** The bytes of the body as they were sent. */
  readonly body: Buffer;
  readonly contentType: string | null;
  readonly address: string;
  readonly signature: RequestSignature;
  /** The names of headers and parameters that the mappings with the name of the hook read. */
  readonly readNames: ReadNames;
}

/** The facts that are known about the sender of a request that is refused. */
export interface RefusedSender {
  readonly mapping: string | null;
  readonly signature: RequestSignature | null;
  /** Why the request is refused, for the operator. Without it, the verdict of the signature or the answer's sentence is shown. */
  readonly reason?: string | undefined;
}

interface SenderCall {
  /** The mapping that handles the request; if it is filtered, the first that would take it but for its `match.when`. */
  readonly mapping: Mapping;
  readonly call: HookCall;
  readonly received: ReceivedRequest;
}

/** A request of an authenticated sender. */
export type AuthenticatedSender =
  | (SenderCall & {
      readonly kind: "call";
      /** The id of a signed message, equal for each attempt to send it. Null when the message has no id. */
      readonly messageId: string | null;
      /** Equal when a signed message arrives again: its id, if it has one. Null when the request is not signed. */
      readonly replayKey: string | null;
    })
  | (SenderCall & {
      readonly kind: "filtered";
      /** The conditions that were not met, for people. */
      readonly reason: string;
    });

export interface HookAuthDeps {
  readonly mappings: readonly Mapping[];
  /** The configured `hooks.path`. */
  readonly basePath: string;
  /** The hook tokens. */
  readonly tokens: readonly string[];
  readonly reject: Reject;
  /** The tokens whose scopes may include hooks. */
  readonly tokenTable: TokenTable;
  readonly clock: Clock;
  readonly log: Logger;
  /** Limits the memory of bodies that are being read. */
  readonly bodies: MemoryBudget;
  readonly sns: SnsClient;
}

/**
 * Authenticates requests to hooks by the hook token, or a token with the scope of the hook, before their bodies are read.
 * Passes requests without it on when a mapping of this name has an `auth` of its own: `authenticateSender` then decides.
 * @throws AppError unauthorized, rate_limited, forbidden
 */
export function authenticateHook(deps: HookAuthDeps): Middleware {
  const { mappings, basePath, tokens, reject, tokenTable, clock, log } = deps;
  let warned = false;
  return (ctx, next) => {
    const name = hookName(basePath, ctx.path);
    ctx.state.byHookToken =
      hookTokens(ctx).some((token) => isOneOf(tokens, token)) ||
      hasScope(tokenTable.findScoped(headerTokens(ctx), clock.now()), name);
    const senders = mappingsNamed(mappings, name).flatMap(({ auth }) => auth ?? []);
    ctx.state.secretHeaders = senders.flatMap((auth) =>
      auth.type === "token" ? (auth.header?.toLowerCase() ?? []) : [],
    );
    if (!warned && ctx.query.token !== undefined) {
      const includesValid = (given: readonly string[]) =>
        given.some((token) => isOneOf(tokens, token)) ||
        senders.some((auth) => auth.type === "token" && findHeaderFault(auth, { headers: {}, tokens: given }) === null);
      warned = includesValid(hookTokens(ctx)) && !includesValid(headerTokens(ctx));
      if (warned) log.warn("a sender passes the hook token in the URL (?token=), which is deprecated; use a header");
    }
    const isOpen = (senders.length > 0 && ctx.method === "POST") || expectsHandshake(mappings, name, ctx.method);
    if (ctx.state.byHookToken || isOpen) return next();
    refuseAs(ctx, unknownSender(mappings, name, ctx));
    return reject(ctx, hookTokens(ctx));
  };
}

/** Returns why a sender without a valid hook token is refused: the name of the hook, the method, or the token. */
function unknownSender(mappings: readonly Mapping[], name: string, ctx: Context): RefusedSender {
  const named = mappingsNamed(mappings, name);
  const mapping = named[0]?.key ?? null;
  if (!mapping && !BUILT_IN_HOOKS.includes(name)) {
    return { mapping, signature: null, reason: noMapping(mappings, name) };
  }
  if (ctx.method !== "POST")
    return { mapping, signature: null, reason: `The request has the method ${ctx.method}; hooks take POST.` };
  return { mapping, signature: { type: "hook-token", verdict: verdictOf(hookTokens(ctx)) } };
}

/** Returns the verdict about the tokens of a request, none of which is valid. */
const verdictOf = (tokens: readonly string[]) => (tokens.length > 0 ? "wrong" : "missing");

/** Returns whether a token may call a hook; false without a token. @throws AppError forbidden if its scope is missing */
function hasScope(token: KnownToken | undefined, hook: string): boolean {
  if (!token) return false;
  const scope = `hooks:${hook}` as const;
  requireScope(token.identity, scope);
  return true;
}

/**
 * Reads the body of a request to a mapped hook, selects its mapping, authenticates the sender as that mapping requires, and
 * stores an `AuthenticatedSender` in `ctx.state.authContext`.
 * @throws AppError before it reads the body: hook_not_found when no mapping has the name; unauthorized and rate_limited when
 *   there is neither a valid token nor a signature. After that: unsupported_media_type, body_too_large, invalid_json, and
 *   each of the former; unavailable when the certificate of a message of Amazon SNS cannot be fetched
 */
export function authenticateSender(deps: HookAuthDeps): Middleware {
  const { mappings, basePath, clock, log, bodies, sns } = deps;
  return async (ctx, next) => {
    const path = hookName(basePath, ctx.path);
    const candidates = mappingsNamed(mappings, path);
    if (candidates.length === 0) throw unknownHook(ctx, basePath, mappings);
    const [candidate] = candidates;
    if (candidate && candidates.length === 1) refuseAs(ctx, { mapping: candidate.key, signature: null });
    const credentials = { headers: ctx.headers, tokens: hookTokens(ctx) };
    const reject = (mapping = path, reason: RefusalReason | "token" = "token", words?: string) => {
      // the log has the mapping and the reason; the response must not reveal them to the sender
      log.info({ mapping, reason }, "a sender could not be authenticated");
      const type = candidates.find(({ key }) => key === mapping)?.auth?.type ?? "hook-token";
      const verdict = reason === "token" ? verdictOf(credentials.tokens) : reason;
      refuseAs(ctx, { mapping, signature: { type, verdict }, reason: words });
      return deps.reject(ctx, credentials.tokens);
    };
    const isAuthenticated = ctx.state.byHookToken && candidates.some(({ auth }) => !auth);
    const senders = candidates.flatMap((mapping) => (mapping.auth ? [{ mapping, auth: mapping.auth }] : []));
    const faults = senders.map(({ auth }) => findHeaderFault(auth, credentials));
    if (!isAuthenticated && !faults.includes(null)) return reject(senders[0]?.mapping.key, faults[0] ?? undefined);
    const limit = Math.max(...candidates.map(({ maxBodyBytes }) => maxBodyBytes));
    const body = await readHookBody(ctx, candidates, limit, bodies);
    const [message = null] = senders.flatMap(({ auth }) => findSnsMessage(auth, body.decoded) ?? []);
    const request = { ...credentials, now: clock.now(), snsKey: message && (await sns.keyOf(message)) };
    const proofs = new Map(senders.map(({ mapping, auth }) => [mapping, verifyBody(auth, request, body)]));
    if (!isAuthenticated && ![...proofs.values()].some(({ ok }) => ok)) {
      const [first] = proofs;
      return reject(first?.[0].key, reasonOf(first?.[1]));
    }
    const proven = candidates.find((one) => (one.auth ? proofs.get(one)?.ok : ctx.state.byHookToken));
    if (proven) refuseAs(ctx, { mapping: proven.key, signature: validSignature(proven) });
    const payload = parseBody(body.decoded, body.kind);
    const call = { ...withoutSecrets(ctx), path, payload };
    const takers = candidates.filter((mapping) => acceptsBody(mapping, body.kind));
    const isProven = (one: Mapping) => (one.auth ? proofs.get(one)?.ok === true : ctx.state.byHookToken === true);
    const selection = selectMapping(takers, call, clock.now());
    const choice = choose(selection, isProven);
    if (!choice) {
      const detail = `No mapping at ${publicPath(ctx)} matches the field source of the body: check match.source in hooks.mappings.`;
      throw new AppError("hook_not_found", { detail });
    }
    const { kind, mapping } = choice;
    const proof = proofs.get(mapping);
    if (kind === "unproven") return reject(mapping.key, reasonOf(proof));
    const received: ReceivedRequest = {
      body: body.sent,
      contentType: ctx.get("Content-Type") || null,
      address: ctx.ip,
      signature: validSignature(mapping),
      readNames: readNamesOf(candidates),
    };
    if (kind === "filtered") {
      const reason = describeFiltered(selection.considered, selection.filtered.filter(isProven)) ?? "";
      return pass(ctx, next, { kind, mapping, reason, call, received });
    }
    if (body.decoded.length > mapping.maxBodyBytes || body.sent.length > mapping.maxBodyBytes) {
      throw mapBodyError({ status: 413 }, mapping.maxBodyBytes);
    }
    if (!hasClientState(mapping, payload)) return reject(mapping.key, "wrong", WRONG_CLIENT_STATE);
    const replayKey = proof?.ok ? proof.replayKey : null;
    const messageId = mapping.auth?.type === "standard-webhooks" ? replayKey : signedMessageId(mapping, payload);
    return pass(ctx, next, { kind, mapping, call, received, messageId, replayKey: messageId ?? replayKey });
  };
}

const WRONG_CLIENT_STATE =
  "A notification lacks the clientState that is handshake's verifyToken: create the subscription anew.";

/** Records the sender of a request in case that it is refused. */
function refuseAs(ctx: Context, sender: RefusedSender): void {
  ctx.state.refusedSender = sender;
}

const validSignature = ({ auth }: Mapping): RequestSignature => ({
  type: auth?.type ?? "hook-token",
  verdict: "valid",
});

/**
 * Decides what a selection means for a sender. A sender that has proven itself to a mapping whose `match.when` leaves the
 * request out is not refused because the mapping after it has another sender.
 * @returns null if no mapping fits the request
 */
function choose(
  { mapping, filtered }: Selection,
  isProven: (mapping: Mapping) => boolean,
): { readonly kind: "call" | "filtered" | "unproven"; readonly mapping: Mapping } | null {
  if (mapping && isProven(mapping)) return { kind: "call", mapping };
  const by = filtered.find(isProven);
  if (by) return { kind: "filtered", mapping: by };
  const unproven = mapping ?? filtered[0];
  return unproven ? { kind: "unproven", mapping: unproven } : null;
}

/** Passes a sender on to the route. */
function pass(ctx: Context, next: Next, sender: AuthenticatedSender): Promise<unknown> {
  ctx.request.body = {};
  ctx.state.authContext = sender;
  return next();
}

/**
 * Verifies a sender by the bytes as they were sent, and those of a compressed body also as they are once decoded: the scheme of
 * a sender covers what its own code signed, and a proxy or an HTTP library may have compressed the body afterwards.
 */
function verifyBody(
  auth: SenderAuth,
  request: Omit<SenderRequest, "rawBody">,
  { sent, decoded }: HookBody,
): SenderVerification {
  const first = verifySender(auth, { ...request, rawBody: sent });
  return first.ok || decoded === sent ? first : verifySender(auth, { ...request, rawBody: decoded });
}

const reasonOf = (proof: SenderVerification | undefined): RefusalReason | undefined =>
  proof?.ok ? undefined : proof?.reason;

/**
 * Returns the id that Stripe and Slack put into the signed body. They sign each attempt to send a message again, so that the
 * signature does not identify the message.
 */
function signedMessageId({ auth }: Mapping, payload: HookCall["payload"]): string | null {
  const { id, event_id: eventId } = payload as { id?: unknown; event_id?: unknown };
  const messageId = auth?.type === "stripe" ? id : auth?.type === "slack" ? eventId : undefined;
  return typeof messageId === "string" ? `${auth?.type}:${messageId}` : null;
}
