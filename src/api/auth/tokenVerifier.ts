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

/** How long Redis may take to count a failure before the process counts it itself. */
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

/** Returns the tokens that a request carries, whether they are valid or not. */
export type ExtractTokens = (ctx: Context) => readonly string[];

/** Extracts the token of `Authorization: Bearer …`. */
export const bearerToken: ExtractTokens = (ctx) => /^Bearer +(\S.*)$/i.exec(ctx.get("Authorization"))?.slice(1) ?? [];

/** Extracts the tokens of both headers that a hook's sender may use: `Authorization` and `X-Service-Token`. */
export const headerTokens: ExtractTokens = (ctx) => [
  ...bearerToken(ctx),
  ...[ctx.get("X-Service-Token")].filter((token) => token !== ""),
];

/** Extracts the tokens of the headers and of `?token=`, which is deprecated: proxies log URLs. */
export const hookTokens: ExtractTokens = (ctx) => [...headerTokens(ctx), ...[ctx.query.token ?? []].flat()];

/** Records that a request had an invalid token. Never fails. */
export type RecordRefusal = (ctx: Context) => Promise<void>;

/** Returns a function that records refused tokens in the audit log. */
export const refusalRecorder =
  (audit: AuditLog, log: Logger): RecordRefusal =>
  async (ctx) => {
    await audit
      .add({ actor: "anonymous", ...originOf(ctx) }, "token.refused")
      .catch((err: unknown) => log.warn({ err }, "a refused token could not be recorded"));
  };

export interface TokenVerifierOptions {
  readonly extractTokens: ExtractTokens;
  readonly countFailure: CountFailure;
  /** The `detail` of the 401 response: what the client must send. */
  readonly advice: string;
  /** What precedes the advice if the request has a token. Hooks answer each failure alike, and have none. */
  readonly refusal?: string;
  /** Records a refused token in the audit log. */
  readonly recordRefusal: RecordRefusal;
}

/**
 * Verifies the tokens of requests before anything of their bodies is read. A valid token is accepted whatever failures its
 * address has caused, because several senders may share an address.
 */
export class TokenVerifier {
  readonly #validTokens: readonly string[];
  readonly #options: TokenVerifierOptions;

  constructor(validTokens: readonly string[], options: TokenVerifierOptions) {
    this.#validTokens = validTokens;
    this.#options = options;
  }

  /** Returns whether one of the request's tokens is valid. */
  verifyRequest(ctx: Context): boolean {
    return this.#options.extractTokens(ctx).some((token) => this.verify(token));
  }

  verify(token: string): boolean {
    // compares with every token, so that the time taken does not depend on which one is valid
    return this.#validTokens.map((valid) => secretsEqual(token, valid)).includes(true);
  }

  /**
   * Counts a failure of the request's address, and records a token that it had.
   * @throws AppError unauthorized; rate_limited above the limit
   */
  async reject(ctx: Context, [token] = this.#options.extractTokens(ctx)): Promise<never> {
    await this.#options.countFailure(ctx.ip);
    // the limit for failures also limits these entries
    if (token !== undefined) await this.#options.recordRefusal(ctx);
    const { advice, refusal } = this.#options;
    throw new AppError("unauthorized", {
      detail: token !== undefined && refusal ? `${refusal} ${advice}` : advice,
      headers: { "WWW-Authenticate": 'Bearer realm="signalbox"' },
    });
  }
}
