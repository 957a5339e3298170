/** The jobs to which a token is confined: those whose ids begin with a prefix, or one job. */
export type JobScope = { readonly idPrefix: string } | { readonly jobId: string };

/** Returns whether a job is one of those that a token may use. */
export function isInScope(jobId: string, scope: JobScope | undefined): boolean {
  if (!scope) return true;
  return "jobId" in scope ? jobId === scope.jobId : jobId.startsWith(scope.idPrefix);
}
