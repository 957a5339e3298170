import type { mongo } from "mongoose";
import { cutErrorText, MAX_FAILED_ATTEMPTS } from "../jobs/reports/failedAttempts.ts";
import type { AgentRun, RunDoc, RunError } from "./run.ts";

/** Returns the operator that adds a failed try to its run, of which the newest are kept. */
export function pushFailedTry({ attempts, startedAt }: AgentRun, { code, message }: RunError, endedAt: Date) {
  const failed = { attempt: attempts, error: { code, message: cutErrorText(message) }, startedAt, endedAt };
  return { failedTries: { $each: [failed], $slice: -MAX_FAILED_ATTEMPTS } } satisfies mongo.PushOperator<RunDoc>;
}
