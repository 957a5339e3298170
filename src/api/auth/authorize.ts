import { jobNotFound } from "../../models/jobs/jobs.ts";
import type { Scope } from "../../shared/access/scopes.ts";
import { AppError } from "../../shared/errors.ts";
import { atJob, type Caller, type Identity, jobOf, jobsFor, mayDo } from "./caller.ts";

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
 * @returns the caller with what it may do to that job
 * @throws AppError forbidden if a scope is missing, or for a change of a job outside of the confinement; job_not_found for
 *   reading such a job
 */
export function authorize(caller: Caller, { method, scopes }: Protected, jobId: string | undefined): Caller {
  requireScope(caller, ...scopes);
  if (jobId === undefined) return caller;
  const confined = atJob(caller, jobId);
  if (mayDo(confined, ...scopes)) return confined;
  if (method === "get") throw jobNotFound(jobId);
  const subject = caller.person ? "Your log-in" : "This token";
  throw new AppError("forbidden", { detail: `${subject} can only ${allowedBy(caller, scopes)}.` });
}

function allowedBy(caller: Identity, scopes: readonly Scope[]): string {
  const groups = scopes.flatMap((scope) => jobsFor(caller, scope) ?? []);
  const prefixes = groups.flatMap((group) => ("idPrefix" in group ? group.idPrefix : [])).join(" or ");
  if (caller.run) return `report steps of its own job, and create and report jobs whose ids begin with ${prefixes}`;
  return jobOf(caller) ? "change its job" : `change jobs whose ids begin with ${prefixes}`;
}

/** Checks a scope that only some requests to a route need. @throws AppError forbidden */
export function requireScope(caller: Identity, ...scopes: readonly Scope[]): void {
  if (!mayDo(caller, ...scopes)) throw missingScope(caller, scopes);
}

/** Returns the error about a scope that a caller does not have. */
export function missingScope(
  { actor, person }: Pick<Identity, "actor" | "person">,
  scopes: readonly Scope[],
): AppError {
  const needed = scopes.length === 1 ? `the scope ${scopes[0]}` : `one of the scopes ${scopes.join(", ")}`;
  const isReadOnly = /^(cookie:)?read-only-token$/.test(actor);
  const detail = person
    ? `The request needs ${needed}, which ${person.setting}.roles gives to none of your groups.`
    : isReadOnly
      ? `This token is read-only. Use server.apiToken to make changes: the request needs ${needed}.`
      : `The request needs ${needed}, which this token does not have. Use another token, or add the scope in server.tokens.`;
  return new AppError("forbidden", { detail });
}
