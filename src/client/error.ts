/** One validation error of a body (`pointer`, a JSON Pointer) or of a URL (`parameter`). */
export interface Fault {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly detail: string;
}

interface ErrorDetails {
  readonly errors?: readonly Fault[];
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * An error response of the service (an RFC 9457 problem), or an error of this library. `code` is stable: a code of the
 * service, or `unreachable` (no response), `unexpected_answer` (a response of another server) or `closed` (the client
 * was closed first).
 */
export class SignalboxError extends Error {
  /** The HTTP status, or 0 without a response. */
  declare readonly status: number;
  declare readonly code: string;
  /** A description for people; the same as `message`. */
  declare readonly detail: string;
  declare readonly errors: readonly Fault[];
  /** The delay before the next request that the service asks for in `Retry-After`. */
  declare readonly retryAfterMs: number | undefined;

  constructor(status: number, code: string, detail: string, details?: ErrorDetails) {
    super(detail, details);
    Object.assign(this, { name: "SignalboxError", status, code, detail, errors: [], ...details });
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return /^(0|408|425|429|5..)$/.test(`${this.status}`);
  }
}

/** The reason of the signal that `run` passes to its work, and the error of `gate`, once cancellation was requested. */
export class CancelledError extends Error {
  /** Why the result is no longer wanted; null without a reason. */
  declare readonly reason: string | null;

  constructor(reason: string | null) {
    super(reason ? `Cancelled: ${reason}` : "Cancelled");
    Object.assign(this, { name: "CancelledError", reason });
  }
}
