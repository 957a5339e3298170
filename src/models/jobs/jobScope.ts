/**
 * The jobs to which a token is confined: those whose ids begin with a prefix, or one job. A job that is created again under the
 * id of a deleted one is another job, with another internal id.
 */
export type JobScope = { readonly idPrefix: string } | OneJob;

/** One job, with its internal id in hexadecimal. */
export interface OneJob {
  readonly jobId: string;
  readonly internalId: string;
}

/** Returns whether a job is one of those that a token may use. */
export function isInScope(jobId: string, scope: JobScope | undefined): boolean {
  if (!scope) return true;
  return "jobId" in scope ? jobId === scope.jobId : jobId.startsWith(scope.idPrefix);
}
