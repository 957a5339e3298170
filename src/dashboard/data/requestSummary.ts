import type { HookRequestRow } from "../../wire/hookRequest.ts";

/** Returns the outcome of a request in a few words. */
export function requestSummary({ outcome, status, reason, runIds, jobIds }: HookRequestRow): string {
  if (outcome === "refused") return `${status} ${reason ?? ""}`;
  if (outcome === "filtered") return reason ? `Not matched: ${reason}` : "Not matched by match.when";
  if (outcome === "dropped") return "The mapping made nothing of it";
  if (outcome === "failed") return "A run of it failed";
  if (jobIds.length > 0) return `Reported ${jobIds.length === 1 ? jobIds[0] : `${jobIds.length} jobs`}`;
  if (runIds.length === 0) return "It has no items";
  return runIds.length === 1 ? "Started 1 run" : `Started ${runIds.length} runs`;
}
