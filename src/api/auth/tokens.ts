import type { Context } from "koa";
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "../../shared/errors.ts";
import type { RedisConnection } from "../../shared/queue/redis.ts";
import { secretsEqual } from "../../shared/secretsEqual.ts";
import { withTimeout } from "../../shared/timeouts.ts";

/** Counts one failure of an address. @throws AppError rate_limited when it has had too many */
export type CountFailure = (address: string) => Promise<void>;

const REDIS_WITHIN_MS = 500;
const FAILURES = { points: 20, duration: 60 } as const;

/**
 * At most 20 failed log-ins a minute from one address, counted in Redis for all processes; each process counts for
 * itself while Redis is away.
 */
export function failureCounter(redis: RedisConnection, prefix: string): CountFailure {
  const local = new RateLimiterMemory(FAILURES);
  const shared = new RateLimiterRedis({
    ...FAILURES,
    storeClient: redis,
    keyPrefix: `${prefix}:auth`,
    rejectIfRedisNotReady: true,
  });
  return async (address) => {
    try {
      await withTimeout(shared.consume(address), REDIS_WITHIN_MS).catch((refused: RateLimiterRes | Error) => {
        if (refused instanceof Error) return local.consume(address);
        throw refused;
      });
    } catch (refused) {
      if (refused instanceof Error) throw refused;
      throw new AppError("rate_limited", {
        detail: "Too many requests with a wrong token from this address.",
        retryAfterSeconds: (refused as RateLimiterRes).msBeforeNext / 1_000,
      });
    }
  };
}

/** The tokens that a request brings, right or wrong. */
export type FindTokens = (ctx: Context) => readonly string[];

/** `Authorization: Bearer …` */
export const bearerToken: FindTokens = (ctx) => /^Bearer +(\S.*)$/i.exec(ctx.get("Authorization"))?.slice(1) ?? [];

/** The two ways of a hook's sender by header. */
export const headerTokens: FindTokens = (ctx) => [
  ...bearerToken(ctx),
  ...[ctx.get("X-Service-Token")].filter((token) => token !== ""),
];

/** All three. A token in the URL ends up in the logs of proxies, so that way is deprecated. */
export const hookTokens: FindTokens = (ctx) => [...headerTokens(ctx), ...[ctx.query.token ?? []].flat()];

export interface GateOptions {
  readonly find: FindTokens;
  readonly countFailure: CountFailure;
  /** What a client without the token is told to send. */
  readonly advice: string;
}

/**
 * Knows requests with one of the tokens from others, before anything of them is read. A right token passes whatever its
 * address did before: senders may share one.
 */
export class Gate {
  readonly #known: readonly string[];
  readonly #options: GateOptions;

  constructor(tokens: readonly string[], options: GateOptions) {
    this.#known = tokens;
    this.#options = options;
  }

  isOpenTo(ctx: Context): boolean {
    return this.#options.find(ctx).some((token) => this.knows(token));
  }

  knows(token: string): boolean {
    return this.#known.map((known) => secretsEqual(token, known)).includes(true);
  }

  /** Counts a failure of the request's address. @throws AppError unauthorized, or rate_limited when there were too many */
  async refuse(ctx: Context): Promise<never> {
    await this.#options.countFailure(ctx.ip);
    throw new AppError("unauthorized", {
      detail: this.#options.advice,
      headers: { "WWW-Authenticate": 'Bearer realm="signalbox"' },
    });
  }
}
