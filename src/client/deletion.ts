import { SignalboxError } from "./error.ts";

/**
 * Returns the query parameters that delete jobs.
 * @param filter the query parameters of a filter of jobs, or `all`
 * @throws SignalboxError unless the filter sets each of its fields, or sets `all` alone
 */
export function deletionQuery(filter: Readonly<Record<string, unknown>>): object {
  const { all, ...query } = filter;
  const values: unknown[][] = Object.values(query).map((value) => [value].flat());
  const isSet = values.every((items) => items[0] !== undefined && !items.includes(null));
  if (all ? !values[0] : values[0] && isSet) return { ...query, ...(all ? { all: true } : {}) };
  const detail = "Set every field of the filter, or pass { all: true } alone to delete every job.";
  throw new SignalboxError(400, "invalid_query", detail);
}
