import type { Context } from "koa";
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from "rate-limiter-flexible";
import type { AuditLog } from "../../models/audit.ts";
import { secretsEqual } from "../../shared/access/secretsEqual.ts";
import { networkOf } from "../../shared/address.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { RedisConnection } from "../../shared/queue/redis.ts";
import { withTimeout } from "../../shared/timeouts.ts";
import { originOf } from "./caller.ts";

/** Counts one failed authentication of an address. @throws AppError rate_limited when its network exceeds the limit */
export type CountFailure = (address: string) => Promise<void>;

/** Maximum time for Redis to count a failure; after it, the process counts the failure itself. */
const REDIS_TIMEOUT_MS = 500;
/** Failed authentications that one network (see `networkOf`) may make within `duration` seconds. */
const FAILURE_LIMIT = { points: 20, duration: 60 } as const;

/**
 * Returns a counter that limits the failed authentications of each network. All processes share the counts in Redis; while
 * Redis is unavailable, each process keeps its own.
 */
export function failureCounter(redis: RedisConnection, prefix: string): CountFailure {
  const local = new RateLimiterMemory(FAILURE_LIMIT);
  const shared = new RateLimiterRedis({
    ...FAILURE_LIMIT,
    storeClient: redis,
    keyPrefix: `${prefix}:auth`,
    rejectIfRedisNotReady: true,
  });
  return async (address) => {
    const network = networkOf(address);
    try {
      await withTimeout(shared.consume(network), REDIS_TIMEOUT_MS).catch((refused: RateLimiterRes | Error) => {
        if (refused instanceof Error) return local.consume(network);
        throw refused;
      });
    } catch (refused) {
      if (refused instanceof Error) throw refused;
      throw new AppError("rate_limited", {
        detail:
          "Too many requests with an invalid token came from this address. Correct the token: a valid one is always accepted.",
        retryAfterSeconds: (refused as RateLimiterRes).msBeforeNext / 1_000,
      });
    }
  };
}

/** Counts a failed authentication of the request's address, and records a wrong token. @throws AppError rate_limited above the limit */
export type Refuse = (ctx: Context, options?: { readonly hasToken: boolean }) => Promise<void>;

/** Returns a function that counts failed authentications, and records those with a wrong token in the audit log. */
export const refusing =
  (countFailure: CountFailure, audit: AuditLog, log: Logger): Refuse =>
  async (ctx, { hasToken } = { hasToken: true }) => {
    await countFailure(ctx.ip);
    if (!hasToken) return;
    // the limit for failures also limits these entries
    await audit
      .add({ actor: "anonymous", ...originOf(ctx) }, "token.refused")
      .catch((err: unknown) => log.warn({ err }, "a refused token could not be recorded"));
  };

/** Rejects a request with the given tokens, none of which is valid. @throws AppError unauthorized; rate_limited above the limit */
export type Reject = (ctx: Context, tokens: readonly string[]) => Promise<never>;

/**
 * @param advice the `detail` of the 401 response: what the client must send
 * @param refusal what precedes it if the request has a token. Hooks answer each failure alike, and have none.
 */
export const rejecting =
  (refuse: Refuse, advice: string, refusal?: string): Reject =>
  async (ctx, tokens) => {
    const hasToken = tokens.length > 0;
    await refuse(ctx, { hasToken });
    const detail = hasToken && refusal ? `${refusal} ${advice}` : advice;
    throw new AppError("unauthorized", { detail, headers: { "WWW-Authenticate": 'Bearer realm="signalbox"' } });
  };

/** Returns the token of `Authorization: Bearer …`, whether it is valid or not. */
export const bearerToken = (ctx: Context): readonly string[] =>
  /^Bearer +(\S.*)$/i.exec(ctx.get("Authorization"))?.slice(1) ?? [];

/** Returns the tokens of both headers that a hook's sender may use: `Authorization` and `X-Service-Token`. */
export const headerTokens = (ctx: Context): readonly string[] => [
  ...bearerToken(ctx),
  ...[ctx.get("X-Service-Token")].filter((token) => token !== ""),
];

/** Returns the tokens of the headers and of `?token=`, which is deprecated: proxies log URLs. */
export const hookTokens = (ctx: Context): readonly string[] => [
  ...headerTokens(ctx),
  ...[ctx.query.token ?? []].flat(),
];

/** Returns whether a token is valid. Compares it with every valid one, so that the time does not depend on which one it is. */
export const isOneOf = (valid: readonly string[], token: string): boolean =>
  valid.map((one) => secretsEqual(token, one)).includes(true);
