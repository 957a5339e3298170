import { childPrefix, isInScope, type JobScope } from "../../models/jobs/jobScope.ts";
import { jobNotFound } from "../../models/jobs/jobs.ts";
import { AppError } from "../../shared/errors.ts";
import type { Scope } from "../../shared/scopes.ts";
import { type Caller, mayDo } from "./caller.ts";

/** The most that the token of a job may do to that job. */
export const OWN_JOB_SCOPES: ReadonlySet<string> = new Set(["jobs:read", "jobs:report"]);

/** The part of a route that decides who may call it. */
export interface Protected {
  readonly method: string;
  /** The scopes of which a caller needs one. */
  readonly scopes: readonly Scope[];
}

/**
 * Decides whether a caller may call a route. This is the only place where scopes and the confinement to jobs are compared
 * with a request for one record; lists take the confinement as a filter.
 * @param jobId the job of the request, if it concerns one
 * @throws AppError forbidden if a scope is missing, or for a change of a job outside of the confinement; job_not_found for
 *   reading such a job
 */
export function authorize(caller: Caller, { method, scopes }: Protected, jobId: string | undefined): void {
  requireScope(caller, ...scopes);
  const { jobs } = caller;
  if (jobId === undefined || (isInScope(jobId, jobs) && !isUnchangeable(jobId, jobs, scopes))) return;
  if (method === "get") throw jobNotFound(jobId);
  throw new AppError("forbidden", { detail: `This token can only ${allowedBy(jobs)}.` });
}

/** Returns whether a run may not do this to its own job, which the service creates. */
const isUnchangeable = (jobId: string, jobs: JobScope | undefined, scopes: readonly Scope[]): boolean =>
  jobs !== undefined && "jobId" in jobs && jobId === jobs.jobId && !mayDo({ scopes: OWN_JOB_SCOPES }, ...scopes);

function allowedBy(jobs: JobScope | undefined): string {
  if (!jobs || "idPrefix" in jobs) return `change jobs whose ids begin with ${jobs?.idPrefix}`;
  return jobs.withChildren
    ? `report steps of its own job, and create and report jobs whose ids begin with ${childPrefix(jobs)}`
    : "change its job";
}

/** Checks a scope that only some requests to a route need. @throws AppError forbidden */
export function requireScope(caller: Caller, ...scopes: readonly Scope[]): void {
  if (!mayDo(caller, ...scopes)) throw missingScope(caller, scopes);
}

/** Returns the error about a scope that a caller does not have. */
export function missingScope({ actor }: Pick<Caller, "actor">, scopes: readonly Scope[]): AppError {
  const needed = scopes.length === 1 ? `the scope ${scopes[0]}` : `one of the scopes ${scopes.join(", ")}`;
  const detail = /^(cookie:)?read-only-token$/.test(actor)
    ? `This token is read-only. Use server.apiToken to make changes: the request needs ${needed}.`
    : `The request needs ${needed}, which this token does not have. Use another token, or add the scope in server.tokens.`;
  return new AppError("forbidden", { detail });
}
