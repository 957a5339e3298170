import { SignalboxError } from "../../client/client.ts";

/**
 * Returns whether an error says that a record does not exist.
 * @param record the kind of the record, as the code of the error begins: `run` for `run_not_found`
 */
export const isMissing = (error: unknown, record: "job" | "step" | "run" | "request" | "session"): boolean =>
  error instanceof SignalboxError && error.code === `${record}_not_found`;
