import { createHash, timingSafeEqual } from "node:crypto";
import type { Redis } from "ioredis";
import type { Middleware } from "koa";
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "../../shared/errors.ts";
import type { Metrics } from "../metrics.ts";

/** Counts one failure of an address. @throws AppError rate_limited when it has had too many */
export type CountFailure = (address: string) => Promise<void>;

const FAILURES = { points: 20, duration: 60 } as const;

/**
 * At most 20 failed log-ins a minute from one address, counted in Redis for all processes; each process counts for
 * itself while Redis is away.
 */
export function failureCounter(redis: Redis, prefix: string): CountFailure {
  const limiter = new RateLimiterRedis({
    ...FAILURES,
    storeClient: redis,
    keyPrefix: `${prefix}:auth`,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(FAILURES),
  });
  return async (address) => {
    await limiter.consume(address).catch((refused: RateLimiterRes | Error) => {
      if (refused instanceof Error) throw refused;
      throw new AppError("rate_limited", {
        detail: "Too many requests with a wrong token from this address.",
        retryAfterSeconds: refused.msBeforeNext / 1_000,
      });
    });
  };
}

/**
 * Lets only requests with the token pass, and judges before anything of them is read. A right token passes whatever
 * its address did before: senders may share one.
 * @throws AppError unauthorized, rate_limited
 */
export function requireToken(token: string, countFailure: CountFailure, metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const given = /^Bearer +(.+)$/i.exec(ctx.get("Authorization"))?.[1];
    if (given !== undefined && sameSecret(given, token)) return next();
    metrics.refused.inc({ reason: "unauthorized" });
    await countFailure(ctx.ip);
    throw new AppError("unauthorized", {
      detail: "Send the API token as `Authorization: Bearer …`.",
      headers: { "WWW-Authenticate": 'Bearer realm="signalbox"' },
    });
  };
}

/** Compares in a time that tells nothing of where two secrets differ, or of how long they are. */
function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
