import { createHash, timingSafeEqual } from "node:crypto";
import type { Redis } from "ioredis";
import type { Context, Middleware } from "koa";
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";

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

/** How a request may bring its token. */
export type FindToken = (ctx: Context) => string | undefined;

/** `Authorization: Bearer …` */
export const bearerToken: FindToken = (ctx) => /^Bearer +(.+)$/i.exec(ctx.get("Authorization"))?.[1];

/** The three ways of a hook's sender. A token in the URL ends up in the logs of proxies: it works, and is warned of once. */
export function hookTokenFinder(log: Logger): FindToken {
  let warned = false;
  return (ctx) => {
    const header = bearerToken(ctx) ?? (ctx.get("X-Service-Token") || undefined);
    if (header !== undefined || typeof ctx.query.token !== "string") return header;
    if (!warned) log.warn("a hook's sender puts its token into the URL (?token=), which is deprecated: use a header");
    warned = true;
    return ctx.query.token;
  };
}

export interface GateOptions {
  readonly find: FindToken;
  readonly countFailure: CountFailure;
  /** What a client without the token is told to send. */
  readonly advice: string;
}

/**
 * Knows requests with one of the tokens from others, before anything of them is read. A right token passes whatever its
 * address did before: senders may share one.
 */
export class Gate {
  readonly #known: readonly Buffer[];
  readonly #options: GateOptions;

  constructor(tokens: readonly string[], options: GateOptions) {
    this.#known = tokens.map(digest);
    this.#options = options;
  }

  /** The token that a request brought, right or wrong. */
  tokenOf(ctx: Context): string | undefined {
    return this.#options.find(ctx);
  }

  isOpenTo(ctx: Context): boolean {
    const given = this.tokenOf(ctx);
    return given !== undefined && isAmong(this.#known, digest(given));
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

/** Lets only requests with one of the gate's tokens pass. @throws AppError unauthorized, rate_limited */
export const requireToken =
  (gate: Gate): Middleware =>
  (ctx, next) =>
    gate.isOpenTo(ctx) ? next() : gate.refuse(ctx);

/** Secrets are compared by their digests: that takes a time which tells nothing of where they differ or how long they are. */
const digest = (secret: string): Buffer => createHash("sha256").update(secret).digest();

const isAmong = (known: readonly Buffer[], given: Buffer): boolean =>
  known.map((one) => timingSafeEqual(one, given)).includes(true);
