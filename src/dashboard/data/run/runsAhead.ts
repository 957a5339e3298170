import type { RunSummary } from "../../../client/client.ts";

type Row = Pick<RunSummary, "runId" | "sessionKey" | "status">;

/**
 * Returns the run that each queued run waits behind, by the id of the queued one. The runs of a session start one after
 * another.
 * @param rows the newest first
 */
export function runsAhead<R extends Row>(rows: readonly R[]): ReadonlyMap<string, R> {
  const ahead = new Map<string, R>();
  const latest = new Map<string, R>();
  for (const row of rows.toReversed()) {
    if (row.sessionKey === null || !/^(queued|waiting|running)$/.test(row.status)) continue;
    const earlier = latest.get(row.sessionKey);
    if (row.status === "queued" && earlier) ahead.set(row.runId, earlier);
    latest.set(row.sessionKey, row);
  }
  return ahead;
}
