import { SignalboxError } from "../../client/client.ts";

/**
 * Returns whether an error says that a record does not exist.
 * @param record the kind of the record, as the code of the error begins: `run` for `run_not_found`
 */
export const isMissing = (error: unknown, record: "job" | "step" | "run" | "request" | "session"): boolean =>
  error instanceof SignalboxError && error.code === `${record}_not_found`;

/** Returns the problem and the advice for an error, as one sentence each. */
export function explain(error: unknown): readonly [title: string, advice: string] {
  if (!(error instanceof SignalboxError)) return ["This page has an error", `${error}. Reload the page.`];
  const { status, message } = error;
  if (status === 0)
    return ["The service cannot be reached", "Check that it is running and that your network reaches it."];
  if (status === 401) return ["You are not logged in", "Log in with the API token."];
  if (status === 403) return ["You are not allowed to do this", message];
  if (status === 429) return ["Too many requests", "Wait a moment, then try again."];
  if (status === 503) return ["The service is not ready", `${message} See /readyz for the checks that fail.`];
  if (status >= 500) return ["The service had an internal error", `${message} See its log for details.`];
  return ["The request was rejected", message];
}
