import type { Config } from "../../../config/config.ts";
import { allTokens } from "../../../config/tokens.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { IdempotencyKeys } from "../../idempotencyKey.ts";
import type { Jobs } from "../jobs.ts";
import { isJobToken, type JobTokenClaims, type JobTokenScope, openJobToken, sealJobToken } from "./jobToken.ts";

interface JobTokenLifetime {
  readonly ttlMs: number;
  /** The end of whoever creates the token, which the token does not outlive. */
  readonly notAfter?: Date | undefined;
}

/** Seals and opens tokens for single jobs. */
export class JobTokens {
  readonly #jobs: Jobs;
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #clock: Clock;
  readonly #secrets: readonly string[];

  /** @param settings the secret that seals tokens; without any, a secret of the database is used */
  constructor(
    { jobs, idempotencyKeys }: { readonly jobs: Jobs; readonly idempotencyKeys: IdempotencyKeys },
    clock: Clock,
    settings: Partial<Pick<Config["server"], "secret" | "apiToken">>,
  ) {
    this.#jobs = jobs;
    this.#idempotencyKeys = idempotencyKeys;
    this.#clock = clock;
    this.#secrets = settings.secret === undefined ? allTokens(settings.apiToken) : [settings.secret];
  }

  /** Creates a token for a job. @throws AppError job_not_found, unavailable */
  async seal(
    jobId: string,
    scope: JobTokenScope,
    { ttlMs, notAfter }: JobTokenLifetime,
  ): Promise<{ token: string; expiresAt: Date }> {
    const internalId = (await this.#jobs.findId(jobId)).toHexString();
    const untilMs = Math.min(this.#clock.now().getTime() + ttlMs, notAfter?.getTime() ?? Number.POSITIVE_INFINITY);
    const expiresAt = new Date(Math.floor(untilMs / 1_000) * 1_000);
    const [secret] = await this.#allSecrets();
    return { token: sealJobToken({ jobId, internalId, scope, expiresAt }, secret as string), expiresAt };
  }

  /**
   * Returns the content of a valid token. Returns null for other texts, for an expired token, and when the job has been
   * deleted since.
   * @throws AppError unavailable
   */
  async open(token: string): Promise<JobTokenClaims | null> {
    if (!isJobToken(token)) return null;
    const claims = openJobToken(token, await this.#allSecrets());
    if (!claims || claims.expiresAt <= this.#clock.now()) return null;
    return (await this.#jobs.exists(claims)) ? claims : null;
  }

  async #allSecrets(): Promise<readonly string[]> {
    return this.#secrets.length > 0 ? this.#secrets : [await this.#idempotencyKeys.deriveId("job tokens")];
  }
}
