import { AppError } from "../../shared/errors.ts";

/** The error of a turn whose signal has fired: the reason, when somebody named one, else `timeout`. */
export function aborted(signal: AbortSignal): AppError {
  return signal.reason instanceof AppError ? signal.reason : new AppError("timeout");
}

export function failed(detail: string): AppError {
  return new AppError("agent_failed", { detail });
}
