/**
 * The catalogue of errors. Codes are public: they are added, never renamed or reused.
 * `retry` is true when the same request may succeed later unchanged.
 */
export const ERRORS = {
  invalid_json: { status: 400, retry: false, title: "The body is not valid JSON." },
  invalid_body: { status: 400, retry: false, title: "The body does not match its schema." },
  invalid_query: { status: 400, retry: false, title: "The path or the query of the URL is not valid." },
  output_required: { status: 400, retry: false, title: "The report that reaches 100 % must carry output." },
  unauthorized: { status: 401, retry: false, title: "A valid token is needed." },
  forbidden: { status: 403, retry: false, title: "This may not be done so." },
  not_found: { status: 404, retry: false, title: "There is nothing at this address." },
  job_not_found: { status: 404, retry: false, title: "There is no such job." },
  step_not_found: { status: 404, retry: false, title: "The job has no such step." },
  hook_not_found: { status: 404, retry: false, title: "There is no hook of this name." },
  run_not_found: { status: 404, retry: false, title: "There is no such run." },
  event_not_found: { status: 404, retry: false, title: "No such event waits for the main session." },
  delivery_not_found: { status: 404, retry: false, title: "There is no such delivery." },
  session_not_found: { status: 404, retry: false, title: "There is no such session." },
  method_not_allowed: { status: 405, retry: false, title: "This address does not take this method." },
  idempotency_conflict: { status: 409, retry: false, title: "The Idempotency-Key was used with another request." },
  run_state_conflict: { status: 409, retry: false, title: "The run is not in a state that allows this." },
  delivery_state_conflict: { status: 409, retry: false, title: "The delivery is not in a state that allows this." },
  too_many_steps: { status: 409, retry: false, title: "The job cannot take another step." },
  body_too_large: { status: 413, retry: false, title: "The body is too large." },
  unsupported_media_type: { status: 415, retry: false, title: "The body must be JSON." },
  rate_limited: { status: 429, retry: true, title: "Too many requests." },
  cancelled: { status: 409, retry: false, title: "The run was cancelled." },
  agent_failed: { status: 502, retry: false, title: "The agent cannot do the run as it is." },
  agent_unavailable: { status: 503, retry: true, title: "The agent cannot be reached." },
  transform_failed: { status: 502, retry: false, title: "The transform could not be carried out." },
  mapping_failed: { status: 502, retry: false, title: "The mapping makes no run of the request." },
  timeout: { status: 504, retry: false, title: "The run took longer than it may." },
  internal: { status: 500, retry: true, title: "Something went wrong inside the service." },
  unavailable: { status: 503, retry: true, title: "A server that this service needs cannot be reached." },
} as const satisfies Record<string, { status: number; retry: boolean; title: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** One fault in a body or a URL: its place (JSON Pointer in a body, parameter name in a URL) and how to correct it. */
export interface ErrorItem {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly detail: string;
}

export interface AppErrorOptions {
  readonly detail?: string;
  readonly errors?: readonly ErrorItem[];
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error of the catalogue. Only this class reaches a client with its own message. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: readonly ErrorItem[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** When the request may be tried again, if known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.detail ?? ERRORS[code].title, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = {
      ...(options.retryAfterSeconds !== undefined && { "Retry-After": String(Math.ceil(options.retryAfterSeconds)) }),
      ...options.headers,
    };
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get retry(): boolean {
    return ERRORS[this.code].retry;
  }
}

/** Returns an AppError as it is; wraps anything else as `internal`, with its cause for the log. */
export function toAppError(thrown: unknown): AppError {
  return thrown instanceof AppError ? thrown : new AppError("internal", { cause: thrown });
}

/** Returns an error about one field of a body. @param detail follows the name of the field */
export function invalidField(field: string, detail: string): AppError {
  const pointer = `/${field.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return new AppError("invalid_body", { detail: `${field} ${detail}.`, errors: [{ pointer, detail }] });
}
