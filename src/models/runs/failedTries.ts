import type { mongo } from "mongoose";
import { cutErrorText, MAX_FAILED_ATTEMPTS } from "../jobs/reports/failedAttempts.ts";
import type { AgentRun, AttemptReport, RunDoc, RunError } from "./run.ts";

/** Returns the operator that adds a failed try to its run, of which the newest are kept. */
export function pushFailedTry(
  { attempts, startedAt }: AgentRun,
  { code, message }: RunError,
  { stderr }: AttemptReport,
  endedAt: Date,
) {
  const error = { code, message: cutErrorText(message) };
  const failed = { attempt: attempts, error, ...(stderr !== undefined && { stderr }), startedAt, endedAt };
  return { failedTries: { $each: [failed], $slice: -MAX_FAILED_ATTEMPTS } } satisfies mongo.PushOperator<RunDoc>;
}
