import { AppError } from "../../shared/errors.ts";

/** Returns the error of a turn whose signal was aborted: the reason if it is an AppError, else `timeout`. */
export function abortError(signal: AbortSignal): AppError {
  return signal.reason instanceof AppError ? signal.reason : new AppError("timeout");
}

/** @param quote the model server's own sentence */
export function agentFailed(detail: string, quote?: string): AppError {
  return new AppError("agent_failed", { detail, quote });
}
