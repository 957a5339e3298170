import type { JobChange } from "../../wire/job.ts";
import { nameWords, storedNameKey } from "../db/nameSearch.ts";
import { CLEAR_CANCEL_ON_RESTART } from "./cancelUpdate.ts";
import { NO_COUNTS } from "./children.ts";
import { packObject } from "./freeObject.ts";
import type { ReceivedChange } from "./job.ts";
import { changedAt } from "./jobTimes.ts";
import { changesPayloads, type PayloadField, replacedBy } from "./payloads/payloadFields.ts";
import type { PayloadWrites } from "./payloads/payloads.ts";
import { jobStatus } from "./reports/reportUpdate.ts";
import { restarted } from "./runTime.ts";
import { searchTerms } from "./search/searchKeys.ts";

type Expression = Record<string, unknown>;

/** The `staleAfterSeconds` of new jobs whose senders report little. */
const QUIET_SECONDS = 86_400;

/** Returns a value unchanged to MongoDB, which would otherwise interpret strings with `$` as expressions. */
const literal = (value: unknown): Expression => ({ $literal: value });
const literalOrNone = (value: unknown) => (value === null ? "$$REMOVE" : literal(value));
const or = (field: string, fallback: unknown): Expression => ({ $ifNull: [field, literal(fallback)] });

/** Returns the expression for a value that only the creation of the job sets. */
const atCreation = (field: string, value: string): Expression => ({
  $cond: [{ $eq: [{ $type: "$createdAt" }, "missing"] }, literal(value), field],
});

/**
 * Returns the fields of a job after a change as expressions, for a job that exists and for a new one.
 * @param writes collects the free objects that are stored on their own
 */
export function jobFields(jobId: string, change: ReceivedChange, writes: PayloadWrites, now: Date): Expression {
  const given = (field: keyof JobChange, value: unknown = change[field]) =>
    change[field] === undefined ? or(`$${field}`, null) : literal(value);
  const payload = (field: PayloadField) => {
    const text = packObject(field, change[field] ?? null);
    return given(field, text === null ? null : writes.keep(jobId, text));
  };
  return {
    jobId: literal(jobId),
    name: given("name"),
    nameKey: change.name === undefined ? or("$nameKey", null) : literal(change.name && storedNameKey(change.name)),
    nameWords: change.name === undefined ? or("$nameWords", []) : literal(nameWords(change.name ?? "")),
    description: given("description"),
    input: payload("input"),
    metadata: payload("metadata"),
    metadataTerms: change.metadata === undefined ? or("$metadataTerms", []) : literal(searchTerms(change.metadata)),
    staleAfterSeconds: change.isQuiet ? or("$staleAfterSeconds", QUIET_SECONDS) : given("staleAfterSeconds"),
    ...(change.status === undefined
      ? { status: or("$status", "running"), endedAt: or("$endedAt", null) }
      : jobStatus(change.status, now)),
    ...(change.status === "running" && { ...CLEAR_CANCEL_ON_RESTART, ...restarted(now) }),
    progress:
      change.status === "completed" ? literal(100) : { $max: [or("$progress", 0), literal(change.progress ?? 0)] },
    message: given("message"),
    output: payload("output"),
    createdAt: or("$createdAt", now),
    ...changedAt(now),
    lastReportAt: isReport(change) ? { $max: ["$lastReportAt", now] } : or("$lastReportAt", null),
    current: or("$current", null),
    parentJobId: given("parentJobId"),
    stepCounts: or("$stepCounts", NO_COUNTS),
    ...(change.links !== undefined && { links: literal(change.links ?? []) }),
    seq: or("$seq", 0),
    ...(changesPayloads(change) && { replaced: replacedBy(change) }),
    ...(change.abortedAt && { cancel: or("$cancel", { requestedAt: change.abortedAt, reason: null }) }),
    ...(change.traceparent !== undefined && { traceparent: atCreation("$traceparent", change.traceparent) }),
    ...(change.pinged !== undefined && { pinged: or("$pinged", change.pinged) }),
    ...(change.callbackUrl !== undefined && { callbackUrl: literalOrNone(change.callbackUrl) }),
    ...(change.returnTo !== undefined && { returnTo: literalOrNone(change.returnTo) }),
  };
}

/** Returns whether a change counts as a report. */
export const isReport = (change: ReceivedChange): boolean =>
  ["order", "status", "progress", "message", "output"].some((field) => field in change);
