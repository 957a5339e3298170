import type { RunStatus, RunSummary } from "../../../client/client.ts";
import { spanStart } from "../job/jobSearch.ts";

export const RUN_STATUSES = ["queued", "waiting", "running", "completed", "failed", "dropped"] as const;

/** The filters of the list of runs other than the status, by their parameters in the address and the API. */
const TEXTS = ["search", "mapping", "sessionKey", "createdFrom", "createdBefore"] as const;

type RunConditions = { [name in (typeof TEXTS)[number]]?: string };

export const statusOf = (place: URLSearchParams): RunStatus | null =>
  RUN_STATUSES.find((one) => one === place.get("status")) ?? null;

/** Converts the address's query to the API's filter, without the status. `created` is a time span before now. */
export function runConditions(place: URLSearchParams, now: number): RunConditions {
  const texts = TEXTS.flatMap((name) => (place.get(name) ? [[name, place.get(name)]] : []));
  const start = spanStart(place, now);
  return { ...Object.fromEntries(texts), ...(start && { createdFrom: start }) };
}

/** Returns whether a run of an event belongs into the list. Only the service compares the words of a search. */
export function matchesRun(run: RunSummary, status: RunStatus | null, conditions: RunConditions): boolean {
  const { mapping, sessionKey, createdFrom, createdBefore } = conditions;
  return (
    (!status || run.status === status) &&
    (!mapping || run.mapping === mapping) &&
    (!sessionKey || run.sessionKey === sessionKey) &&
    (!createdFrom || run.createdAt >= createdFrom) &&
    (!createdBefore || run.createdAt < createdBefore)
  );
}
