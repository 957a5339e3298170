import type { RunSummary } from "../../../client/client.ts";
import { givenFilters } from "../filter.ts";
import { spanStart } from "../job/jobSearch.ts";

export const RUN_STATUSES = ["queued", "waiting", "running", "completed", "failed", "dropped"] as const;

const FILTERS = {
  status: RUN_STATUSES,
  search: null,
  mapping: null,
  sessionKey: null,
  createdFrom: null,
  createdBefore: null,
} as const;

type RunFilter = ReturnType<typeof runFilter>;

/** Converts the address's query to the API's filter. `created` is a time span before now. */
export function runFilter(place: URLSearchParams, now: number) {
  const start = spanStart(place, now);
  return { ...givenFilters(place, FILTERS), ...(start && { createdFrom: start }) };
}

/** Returns whether a run of an event belongs into the list. Only the service compares the words of a search. */
export function matchesRun(run: RunSummary, filter: RunFilter): boolean {
  const { status, mapping, sessionKey, createdFrom, createdBefore } = filter;
  return (
    (!status || run.status === status) &&
    (!mapping || run.mapping === mapping) &&
    (!sessionKey || run.sessionKey === sessionKey) &&
    (!createdFrom || run.createdAt >= createdFrom) &&
    (!createdBefore || run.createdAt < createdBefore)
  );
}
