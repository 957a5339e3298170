/** One fault in a body (`pointer`, a JSON Pointer) or in a URL (`parameter`). */
export interface Fault {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly detail: string;
}

interface More {
  readonly errors?: readonly Fault[] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * Whatever the service refuses (an RFC 9457 problem), and that it cannot be reached. `code` is stable: those of the
 * service, and three of this library's own, `unreachable` (no answer), `unexpected_answer` (not one of this service) and
 * `closed` (the client was closed first).
 */
export class SignalboxError extends Error {
  /** The answer's, 0 when there was none. */
  declare readonly status: number;
  declare readonly code: string;
  /** For people; the same as `message`. */
  declare readonly detail: string;
  declare readonly errors: readonly Fault[];
  /** How long the service wants to be left alone, where it said so. */
  declare readonly retryAfterMs: number | undefined;

  constructor(status: number, code: string, detail: string, { errors = [], retryAfterMs, cause }: More = {}) {
    super(detail, { cause });
    Object.assign(this, { name: "SignalboxError", status, code, detail, errors, retryAfterMs });
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return /^(0|408|425|429|5..)$/.test(String(this.status));
  }
}
