import type { Context, Middleware } from "koa";
import getRawBody from "raw-body";
import { type HookCall, hookName, type Mapping, mappingsNamed, matchBody } from "../../hooks/mappings/mapping.ts";
import type { RefusalReason } from "../../hooks/signatures/signature.ts";
import { findHeaderFault, type SenderVerification, verifySender } from "../../hooks/signatures/verifySender.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { withoutBasePath } from "../middleware/basePath.ts";
import { bodyCoding, checkType, mapBodyError, parseBody, readBody } from "../middleware/body.ts";
import type { MemoryBudget } from "../middleware/memoryBudget.ts";
import type { HookNotFound } from "./hookNotFound.ts";
import { headerTokens, hookTokens, type TokenVerifier } from "./tokenVerifier.ts";

/** A request of an authenticated sender, with the mapping that handles it. */
export interface AuthenticatedSender {
  readonly mapping: Mapping;
  readonly call: HookCall;
  /** The id of a signed message, equal for each attempt to send it. Null when the message has no id. */
  readonly messageId: string | null;
  /** Equal when a signed message arrives again: its id, if it has one. Null when the request is not signed. */
  readonly replayKey: string | null;
}

export interface HookAuthDeps {
  readonly mappings: readonly Mapping[];
  /** The configured `hooks.path`. */
  readonly basePath: string;
  readonly verifier: TokenVerifier;
  readonly clock: Clock;
  readonly log: Logger;
  /** Limits the memory of bodies that are being read. */
  readonly bodies: MemoryBudget;
  readonly notFound: HookNotFound;
}

/** Removes one slash from the end of a hook's path. */
export const ignoreTrailingSlash: Middleware = (ctx, next) => {
  if (ctx.path.endsWith("/")) ctx.path = ctx.path.slice(0, -1);
  return next();
};

/**
 * Authenticates requests to hooks by the hook token before their bodies are read. Passes requests without it on when a
 * mapping of this name has an `auth` of its own: `authenticateSender` then decides.
 * @throws AppError unauthorized, rate_limited
 */
export function authenticateHook({ mappings, basePath, verifier, log }: HookAuthDeps): Middleware {
  let warned = false;
  return (ctx, next) => {
    ctx.state.byHookToken = verifier.verifyRequest(ctx);
    const senders = mappingsNamed(mappings, hookName(basePath, ctx.path)).flatMap(({ auth }) => auth ?? []);
    if (!warned && ctx.query.token !== undefined) {
      const includesValid = (tokens: readonly string[]) =>
        tokens.some((token) => verifier.verify(token)) ||
        senders.some((auth) => auth.type === "token" && findHeaderFault(auth, { headers: {}, tokens }) === null);
      warned = includesValid(hookTokens(ctx)) && !includesValid(headerTokens(ctx));
      if (warned) log.warn("a sender passes the hook token in the URL (?token=), which is deprecated; use a header");
    }
    return ctx.state.byHookToken || (senders.length > 0 && ctx.method === "POST") ? next() : verifier.reject(ctx);
  };
}

/**
 * Reads the body of a request to a mapped hook, selects its mapping, authenticates the sender as that mapping requires, and
 * stores an `AuthenticatedSender` in `ctx.state.authContext`.
 * @throws AppError before it reads the body: hook_not_found when no mapping has the name; unauthorized and rate_limited when
 *   there is neither a valid token nor a signature. After that: unsupported_media_type, body_too_large, invalid_json, and
 *   each of the former
 */
export function authenticateSender(deps: HookAuthDeps): Middleware {
  const { mappings, basePath, verifier, clock, log, bodies, notFound } = deps;
  return async (ctx, next) => {
    const path = hookName(basePath, ctx.path);
    const candidates = mappingsNamed(mappings, path);
    if (candidates.length === 0) throw notFound.unknownName(ctx);
    const credentials = { headers: ctx.headers, tokens: hookTokens(ctx) };
    const reject = (mapping = path, reason: RefusalReason | "token" = "token") => {
      // the log has the mapping and the reason; the response must not reveal them to the sender
      log.info({ mapping, reason }, "a sender could not be authenticated");
      return verifier.reject(ctx);
    };
    const isAuthenticated = ctx.state.byHookToken && candidates.some(({ auth }) => !auth);
    const senders = candidates.flatMap((mapping) => (mapping.auth ? [{ mapping, auth: mapping.auth }] : []));
    const faults = senders.map(({ auth }) => findHeaderFault(auth, credentials));
    if (!isAuthenticated && !faults.includes(null)) return reject(senders[0]?.mapping.key, faults[0] ?? undefined);
    const rawBody = await readRaw(ctx, Math.max(...candidates.map(({ maxBodyBytes }) => maxBodyBytes)), bodies);
    const proofs = new Map(
      senders.map(({ mapping, auth }) => [mapping, verifySender(auth, { ...credentials, rawBody, now: clock.now() })]),
    );
    if (!isAuthenticated && ![...proofs.values()].some(({ ok }) => ok)) {
      const [first] = proofs;
      return reject(first?.[0].key, reasonOf(first?.[1]));
    }
    const payload = parseBody(rawBody) as HookCall["payload"];
    const mapping = matchBody(candidates, payload);
    if (!mapping) throw notFound.unknownSource(ctx);
    const proof = proofs.get(mapping);
    if (mapping.auth ? !proof?.ok : !ctx.state.byHookToken) return reject(mapping.key, reasonOf(proof));
    if (rawBody.length > mapping.maxBodyBytes) throw mapBodyError({ status: 413 }, mapping.maxBodyBytes);
    const replayKey = proof?.ok ? proof.replayKey : null;
    const messageId = mapping.auth?.type === "standard-webhooks" ? replayKey : signedMessageId(mapping, payload);
    const call = { ...withoutSecrets(ctx), path, payload };
    ctx.request.body = {};
    ctx.state.authContext = {
      ...{ mapping, call, messageId, replayKey: messageId ?? replayKey },
    } satisfies AuthenticatedSender;
    return next();
  };
}

const reasonOf = (proof: SenderVerification | undefined): RefusalReason | undefined =>
  proof?.ok ? undefined : proof?.reason;

/**
 * Returns the id that Stripe and Slack put into the signed body. They sign each attempt to send a message anew, so that the
 * signature does not identify the message.
 */
function signedMessageId({ auth }: Mapping, payload: HookCall["payload"]): string | null {
  const { id, event_id: eventId } = payload as { id?: unknown; event_id?: unknown };
  const messageId = auth?.type === "stripe" ? id : auth?.type === "slack" ? eventId : undefined;
  return typeof messageId === "string" ? `${auth?.type}:${messageId}` : null;
}

async function readRaw(ctx: Context, limit: number, bodies: MemoryBudget): Promise<Buffer> {
  if (bodyCoding(ctx) !== "identity") {
    throw new AppError("unsupported_media_type", {
      detail: "This hook does not accept a compressed body. Send the body without a Content-Encoding header.",
    });
  }
  const length = ctx.request.length ?? null;
  if (length !== 0) checkType(ctx);
  return readBody(ctx, limit, bodies, () => getRawBody(ctx.req, { limit, length })).catch((error) => {
    throw mapBodyError(error, limit);
  });
}

const SECRET_HEADERS: readonly string[] = ["authorization", "proxy-authorization", "x-service-token", "cookie"];

/** Returns the parts of a request that transforms, templates and records may see: everything but its secrets. */
function withoutSecrets({ headers, query, originalUrl, state }: Context): Pick<HookCall, "headers" | "url" | "query"> {
  const [target = "", ...search] = originalUrl.split("?");
  const path = withoutBasePath(target, state.basePath) ?? target;
  const publicSearch = search
    .join("?")
    .split("&")
    .filter((part) => part !== "" && !new URLSearchParams(part).has("token"));
  const { token: _, ...publicQuery } = query;
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_HEADERS.includes(name))),
    url: publicSearch.length > 0 ? `${path}?${publicSearch.join("&")}` : path,
    query: publicQuery,
  };
}
