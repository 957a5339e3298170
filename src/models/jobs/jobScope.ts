/**
 * The jobs to which a token is confined: those whose ids begin with a prefix, or one job, for the token of a run with those
 * that the run has started. A job that is created again under the
 * id of a deleted one is another job, with another internal id.
 */
export type JobScope = { readonly idPrefix: string } | OneJob;

/** One job, with its internal id in hexadecimal. */
export interface OneJob {
  readonly jobId: string;
  readonly internalId: string;
  /** Set for the token of a run, which also creates and reports jobs whose ids begin with that of its job and a slash. */
  readonly withChildren?: true;
}

/** Returns the beginning of the ids of the jobs that the token of a run may create. */
export const childPrefix = ({ jobId }: Pick<OneJob, "jobId">): string => `${jobId}/`;

/** Returns the beginning of the ids of all jobs that a token with this confinement may create. */
export function createdPrefix(scope: JobScope | undefined): string {
  if (!scope) return "";
  return "idPrefix" in scope ? scope.idPrefix : childPrefix(scope);
}

/** Returns whether a job is one of those that a token may use. */
export function isInScope(jobId: string, scope: JobScope | undefined): boolean {
  if (!scope) return true;
  if ("idPrefix" in scope) return jobId.startsWith(scope.idPrefix);
  return jobId === scope.jobId || (scope.withChildren === true && jobId.startsWith(childPrefix(scope)));
}
