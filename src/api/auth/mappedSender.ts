import type { Context, Middleware } from "koa";
import getRawBody from "raw-body";
import { type HookCall, hookName, type Mapping, mappingsNamed, matchBody } from "../../hooks/mappings/mapping.ts";
import type { RefusalReason } from "../../hooks/signatures/signature.ts";
import { findHeaderFault, type SenderVerification, verifySender } from "../../hooks/signatures/verifySender.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import { isObject, parseJson } from "../../shared/json.ts";
import type { Logger } from "../../shared/logger.ts";
import { bodyCoding, checkType, namedBodyError, readBody } from "../middleware/body.ts";
import type { MemoryBudget } from "../middleware/memoryBudget.ts";
import { type Gate, headerTokens, hookTokens } from "./tokens.ts";

/** A request that a mapping takes, from a sender that has proved itself. */
export interface Admitted {
  readonly mapping: Mapping;
  readonly call: HookCall;
  /** The id of a signed message: with the same one it is the same message, whatever else has changed. Null where it has none. */
  readonly messageId: string | null;
  /** The same for a signed message that arrives again, its id where it has one; null where nothing is signed. */
  readonly replayKey: string | null;
}

export interface MappedSenderDeps {
  readonly mappings: readonly Mapping[];
  /** hooks.path */
  readonly basePath: string;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly log: Logger;
  /** Limits the memory of the bodies that are being read. */
  readonly bodies: MemoryBudget;
}

/** Takes one slash off the end of a hook's path. */
export const ignoreTrailingSlash: Middleware = (ctx, next) => {
  if (ctx.path.endsWith("/")) ctx.path = ctx.path.slice(0, -1);
  return next();
};

/**
 * Lets only senders with the hook token pass, before anything is read; for names with a mapping that has a proof of its
 * own, `admitSender` judges the others.
 * @throws AppError unauthorized, rate_limited
 */
export function hookGuard({ mappings, basePath, gate, log }: MappedSenderDeps): Middleware {
  let warned = false;
  return (ctx, next) => {
    ctx.state.byToken = gate.isOpenTo(ctx);
    const senders = mappingsNamed(mappings, hookName(basePath, ctx.path)).flatMap(({ auth }) => auth ?? []);
    if (!warned && ctx.query.token !== undefined) {
      const areRight = (tokens: readonly string[]) =>
        tokens.some((token) => gate.knows(token)) ||
        senders.some((auth) => auth.type === "token" && findHeaderFault(auth, { headers: {}, tokens }) === null);
      warned = areRight(hookTokens(ctx)) && !areRight(headerTokens(ctx));
      if (warned) log.warn("a hook's sender puts its token into the URL (?token=), which is deprecated: use a header");
    }
    return ctx.state.byToken || (senders.length > 0 && ctx.method === "POST") ? next() : gate.refuse(ctx);
  };
}

/**
 * Reads the body of a request to a mapped hook, finds its mapping, and has the sender prove itself to that: into
 * `ctx.state.admitted`.
 * @throws AppError before anything is read hook_not_found where no mapping has the name; unauthorized, rate_limited where
 *   there is no right token and no signature; then unsupported_media_type, body_too_large, invalid_json and all of these
 */
export function admitSender({ mappings, basePath, gate, clock, log, bodies }: MappedSenderDeps): Middleware {
  return async (ctx, next) => {
    const path = hookName(basePath, ctx.path);
    const candidates = mappingsNamed(mappings, path);
    if (candidates.length === 0) throw noHook(ctx);
    const given = { headers: ctx.headers, tokens: hookTokens(ctx) };
    const refuse = (mapping = path, reason: RefusalReason | "token" = "token") => {
      // which of them it was is for the operator to know, not for the sender
      log.info({ mapping, reason }, "a sender could not prove itself");
      return gate.refuse(ctx);
    };
    const isOpen = ctx.state.byToken && candidates.some(({ auth }) => !auth);
    const senders = candidates.flatMap((mapping) => (mapping.auth ? [{ mapping, auth: mapping.auth }] : []));
    const faults = senders.map(({ auth }) => findHeaderFault(auth, given));
    if (!isOpen && !faults.includes(null)) return refuse(senders[0]?.mapping.key, faults[0] ?? undefined);
    const rawBody = await readRaw(ctx, Math.max(...candidates.map(({ maxBodyBytes }) => maxBodyBytes)), bodies);
    const proofs = new Map(
      senders.map(({ mapping, auth }) => [mapping, verifySender(auth, { ...given, rawBody, now: clock.now() })]),
    );
    if (!isOpen && ![...proofs.values()].some(({ ok }) => ok)) {
      const [first] = proofs;
      return refuse(first?.[0].key, reasonOf(first?.[1]));
    }
    const payload = parseObject(rawBody);
    const mapping = matchBody(candidates, payload);
    if (!mapping) throw noHook(ctx);
    const proof = proofs.get(mapping);
    if (mapping.auth ? !proof?.ok : !ctx.state.byToken) return refuse(mapping.key, reasonOf(proof));
    if (rawBody.length > mapping.maxBodyBytes) throw namedBodyError({ status: 413 }, mapping.maxBodyBytes);
    const replayKey = proof?.ok ? proof.replayKey : null;
    const messageId = mapping.auth?.type === "standard-webhooks" ? replayKey : signedId(mapping, payload);
    const call = { ...withoutSecrets(ctx), path, payload };
    const admitted: Admitted = { mapping, call, messageId, replayKey: messageId ?? replayKey };
    ctx.request.body = payload;
    ctx.state.admitted = admitted;
    return next();
  };
}

const reasonOf = (proof: SenderVerification | undefined): RefusalReason | undefined =>
  proof?.ok ? undefined : proof?.reason;

/** These sign each attempt anew, so that their own id tells a message that comes again; the signature vouches for it. */
function signedId({ auth }: Mapping, { id, event_id: eventId }: Readonly<Record<string, unknown>>): string | null {
  const own = auth?.type === "stripe" ? id : auth?.type === "slack" ? eventId : undefined;
  return typeof own === "string" ? `${auth?.type}:${own}` : null;
}

const noHook = (ctx: Context) => new AppError("hook_not_found", { detail: `There is no hook at ${ctx.path}.` });

async function readRaw(ctx: Context, limit: number, bodies: MemoryBudget): Promise<Buffer> {
  if (bodyCoding(ctx) !== "identity") {
    throw new AppError("unsupported_media_type", { detail: "Send the body as it is, without a Content-Encoding." });
  }
  const length = ctx.request.length ?? null;
  if (length !== 0) checkType(ctx);
  return readBody(ctx, limit, bodies, () => getRawBody(ctx.req, { limit, length })).catch((error) => {
    throw namedBodyError(error, limit);
  });
}

/** An absent body is `{}`. */
function parseObject(raw: Buffer): Record<string, unknown> {
  if (raw.length === 0) return {};
  try {
    const value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(raw));
    if (isObject(value)) return value;
  } catch {
    // the parser's words quote the body
  }
  throw namedBodyError({}, 0);
}

const SECRET_HEADERS: readonly string[] = ["authorization", "proxy-authorization", "x-service-token", "cookie"];

/** What a transform, a template and a record may see of the request. */
function withoutSecrets({ headers, query, originalUrl }: Context): Pick<HookCall, "headers" | "url" | "query"> {
  const [path = "", ...search] = originalUrl.split("?");
  const kept = search
    .join("?")
    .split("&")
    .filter((part) => part !== "" && !new URLSearchParams(part).has("token"));
  const { token: _, ...rest } = query;
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_HEADERS.includes(name))),
    url: kept.length > 0 ? `${path}?${kept.join("&")}` : path,
    query: rest,
  };
}
