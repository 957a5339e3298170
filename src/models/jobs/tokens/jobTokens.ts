import { mongo } from "mongoose";
import type { Config } from "../../../config/config.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { IdempotencyKeys } from "../../idempotencyKey.ts";
import { type JobHead, WITHOUT_STEPS } from "../job.ts";
import type { OneJob } from "../jobScope.ts";
import { type Jobs, jobNotFound } from "../jobs.ts";
import { Seals } from "./seal.ts";

/**
 * The access that a job token gives to its job: `read` reads it, `report` also reports its steps, and `run` is the token of an
 * agent run, which also creates and reports the jobs that the run starts.
 */
export type JobTokenScope = "report" | "read" | "run";

/** The content of a job token. It names the internal id of its job, so that it ends with the job. */
export interface JobTokenClaims extends OneJob {
  readonly scope: JobTokenScope;
  readonly expiresAt: Date;
}

/** The parts of a job that a link can show besides its head and its steps. Its input and metadata are never shown. */
export const SHARED_PARTS = ["output", "log"] as const;
export type SharedPart = (typeof SHARED_PARTS)[number];

/** The parts of a job that a link shows. */
export interface Shared {
  readonly job: JobHead;
  readonly include: readonly SharedPart[];
  readonly expiresAt: Date;
}

interface Lifetime {
  readonly ttlMs: number;
  /** The end of whoever creates the token, which the token does not outlive. */
  readonly notAfter?: Date | undefined;
}

interface Sealed {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Seals and opens tokens for single jobs: those that authenticate requests, and those of links that show a job. */
export class JobTokens {
  readonly #jobs: Jobs;
  readonly #clock: Clock;
  readonly seals: Seals;

  /** @param settings the secret that seals tokens; without any, a secret of the database is used */
  constructor(
    { jobs, idempotencyKeys }: { readonly jobs: Jobs; readonly idempotencyKeys: IdempotencyKeys },
    clock: Clock,
    settings: Partial<Pick<Config["server"], "secret" | "apiToken">>,
  ) {
    this.#jobs = jobs;
    this.seals = new Seals(idempotencyKeys, settings);
    this.#clock = clock;
  }

  /** Creates a token for a job. @throws AppError job_not_found, unavailable */
  async seal(jobId: string, scope: JobTokenScope, lifetime: Lifetime): Promise<Sealed> {
    const internalId = (await this.#jobs.findId(jobId)).toHexString();
    const expiresAt = this.#endOf(lifetime);
    const content = [jobId, internalId, scope, secondsOf(expiresAt)];
    return { token: await this.seals.seal("job", content), expiresAt };
  }

  /**
   * Returns the content of a valid token. Returns null for other texts, for an expired token, and when the job has been
   * deleted since.
   */
  async open(token: string): Promise<JobTokenClaims | null> {
    const content = await this.seals.open("job", token);
    if (!content) return null;
    const [jobId, internalId, scope, end] = content as [string, string, JobTokenScope, number];
    const claims = { jobId, internalId, scope, expiresAt: new Date(end * 1_000) };
    if (claims.expiresAt <= this.#clock.now()) return null;
    return (await this.#jobs.exists(claims)) ? claims : null;
  }

  /** Creates the token of a link that shows a job. @throws AppError job_not_found, unavailable */
  async share(jobId: string, include: readonly SharedPart[], lifetime: Lifetime): Promise<Sealed> {
    const { _id, shareEpoch = 0 } = await this.#jobs.find(jobId);
    const expiresAt = this.#endOf(lifetime);
    const content = [jobId, _id.toHexString(), include, secondsOf(expiresAt), shareEpoch];
    return { token: await this.seals.seal("share", content), expiresAt };
  }

  /**
   * Returns what the token of a link shows.
   * @returns `ended` for a token whose time has passed, whose job was deleted, or whose links were revoked; null for other texts
   */
  async openShare(token: string): Promise<Shared | "ended" | null> {
    const content = await this.seals.open("share", token);
    if (!content) return null;
    const [jobId, internalId, include, end, epoch] = content as [string, string, SharedPart[], number, number];
    const expiresAt = new Date(end * 1_000);
    if (expiresAt <= this.#clock.now()) return "ended";
    const query = { jobId, _id: new mongo.ObjectId(internalId) };
    const job = await this.#jobs.collection.findOne<JobHead>(query, { projection: WITHOUT_STEPS });
    if (!job || (job.shareEpoch ?? 0) !== epoch) return "ended";
    return { job, include, expiresAt };
  }

  /** Revokes all links that show a job. @throws AppError job_not_found, unavailable */
  async revokeShares(jobId: string): Promise<void> {
    const { matchedCount } = await this.#jobs.collection.updateOne({ jobId }, { $inc: { shareEpoch: 1 } });
    if (matchedCount === 0) throw jobNotFound(jobId);
  }

  #endOf({ ttlMs, notAfter }: Lifetime): Date {
    const untilMs = Math.min(this.#clock.now().getTime() + ttlMs, notAfter?.getTime() ?? Number.POSITIVE_INFINITY);
    return new Date(Math.floor(untilMs / 1_000) * 1_000);
  }
}

const secondsOf = (time: Date): number => time.getTime() / 1_000;
