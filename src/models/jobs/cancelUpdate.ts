import type { mongo } from "mongoose";
import { endedBy } from "./jobNotes.ts";
import { changedAt } from "./jobTimes.ts";
import { jobStatus } from "./reports/reportUpdate.ts";

/** The fields of a job that a request for cancellation changes. */
export interface CancelChange {
  readonly reason?: string | null | undefined;
  /** Whether the request fails the job at once, for a worker that is gone. */
  readonly force?: boolean | undefined;
}

/**
 * Returns the stages that apply a request for cancellation to a running job. A further request changes nothing of an earlier one.
 * @param id the id of this update, which is stored if it ends the job
 */
export function cancelStages(
  { reason = null, force = false }: CancelChange,
  id: mongo.ObjectId,
  now: Date,
): mongo.Document[] {
  const isFirst = { $eq: [{ $type: "$cancel" }, "missing"] };
  const request = { requestedAt: now, reason: { $literal: reason } };
  return [
    {
      $set: {
        cancel: { $cond: [isFirst, request, "$cancel"] },
        ...changedAt(now, force ? undefined : isFirst),
      },
    },
    ...(force
      ? [{ $set: { ...jobStatus("failed", now), ...endedBy("failed", id), message: forcedMessage(reason) } }]
      : []),
  ];
}

/** Returns the expression for the message of a job that a forced request fails. The reason of the first request is preferred. */
const forcedMessage = (reason: string | null): mongo.Document => ({
  $ifNull: [{ $concat: ["Cancelled: ", { $ifNull: ["$cancel.reason", { $literal: reason }] }] }, "Cancelled"],
});

/** Returns the expression for the reason of a forced request. Without a reason it removes the field that it is assigned to. */
export const cancelReason = ({ reason = null }: CancelChange): mongo.Document => ({
  $ifNull: ["$cancel.reason", { $literal: reason }, "$$REMOVE"],
});

/** The field that a change to the status running sets. A job that is started again is not cancelled. */
export const CLEAR_CANCEL_ON_RESTART = {
  cancel: { $cond: [{ $eq: ["$status", "running"] }, "$cancel", "$$REMOVE"] },
};
