/**
 * Some of the jobs: those whose ids begin with a prefix, or one job. A job that is created again under the id of a deleted one is
 * another job, with another internal id.
 */
export type JobGroup = { readonly idPrefix: string } | OneJob;

/** One job, with its internal id in hexadecimal. */
export interface OneJob {
  readonly jobId: string;
  readonly internalId: string;
}

/** The jobs to which a caller is confined: those of each of the groups. */
export type JobScope = readonly JobGroup[];

/** Returns the beginning of the ids of the jobs that the token of a run may create. */
export const childPrefix = ({ jobId }: Pick<OneJob, "jobId">): string => `${jobId}/`;

/** Returns the beginning of the ids of the jobs that a caller creates for senders who name none; the first of several. */
export function createdPrefix(scope: JobScope | undefined): string {
  const [prefix = ""] = (scope ?? []).flatMap((group) => ("idPrefix" in group ? [group.idPrefix] : []));
  return prefix;
}

/** Returns whether a job is one of those that a caller may use. */
export const isInScope = (jobId: string, scope: JobScope | undefined): boolean =>
  scope?.some((group) => isInGroup(jobId, group)) ?? true;

/** Returns whether a job is one of a group. */
export const isInGroup = (jobId: string, group: JobGroup): boolean =>
  "idPrefix" in group ? jobId.startsWith(group.idPrefix) : jobId === group.jobId;

/** Returns the one job of a caller who has the token of a job. */
export const ownJob = (scope: JobScope | undefined): OneJob | undefined =>
  scope?.find((group): group is OneJob => "jobId" in group);
