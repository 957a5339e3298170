/**
 * The catalogue of errors. Codes are public: they are added, never renamed or reused.
 * `retry` is true when the same request may succeed later unchanged. `fix` says what a caller can do about the error.
 */
export const ERRORS = {
  invalid_json: {
    status: 400,
    retry: false,
    title: "The request body is not valid JSON.",
    fix: "Send a complete JSON object in UTF-8.",
  },
  invalid_body: {
    status: 400,
    retry: false,
    title: "A field of the request body is missing or invalid.",
    fix: "Correct the fields that `errors` names.",
  },
  invalid_query: {
    status: 400,
    retry: false,
    title: "A parameter of the URL or a header is missing or invalid.",
    fix: "Correct the parameters that `errors` or `detail` names.",
  },
  output_required: {
    status: 400,
    retry: false,
    title: "The report that completes a job must include its output.",
    fix: "Send `output`, an object, in the report that brings the job to 100.",
  },
  unauthorized: {
    status: 401,
    retry: false,
    title: "The request has no valid token or signature.",
    fix: "Send the token in the header `Authorization: Bearer <token>`.",
  },
  forbidden: {
    status: 403,
    retry: false,
    title: "You are not allowed to do this.",
    fix: "Read `detail`: it names the token, the host name or the origin that is not allowed.",
  },
  deletion_forbidden: {
    status: 403,
    retry: false,
    title: "Jobs cannot be deleted without a filter here.",
    fix: "Send a filter, such as `status=failed`, or change `jobs.deleteAll` in the configuration.",
  },
  not_found: {
    status: 404,
    retry: false,
    title: "There is no endpoint or page at this URL.",
    fix: "Check the URL against the API reference at /docs.",
  },
  job_not_found: {
    status: 404,
    retry: false,
    title: "The job does not exist.",
    fix: "Check the jobId. Create the job before you report its steps; old jobs may have been deleted.",
  },
  step_not_found: {
    status: 404,
    retry: false,
    title: "The job has no such step.",
    fix: "Check the stepKey: a step exists after its first report.",
  },
  gate_not_found: {
    status: 404,
    retry: false,
    title: "The job has no such gate.",
    fix: "Check the key: a gate exists after `PUT /api/jobs/{jobId}/gates/{key}`.",
  },
  hook_not_found: {
    status: 404,
    retry: false,
    title: "There is no hook with this name.",
    fix: "Check the name in the URL against `hooks.mappings` in the configuration.",
  },
  run_not_found: {
    status: 404,
    retry: false,
    title: "The run does not exist.",
    fix: "Check the runId; old runs may have been deleted.",
  },
  request_not_found: {
    status: 404,
    retry: false,
    title: "The request to a hook is not kept.",
    fix: "List the kept requests again: older ones are deleted. Set `hooks.keepRequests` to keep requests.",
  },
  event_not_found: {
    status: 404,
    retry: false,
    title: "The event is not waiting for the main session.",
    fix: "List the waiting events again: the main session may have processed this one.",
  },
  delivery_not_found: {
    status: 404,
    retry: false,
    title: "The delivery does not exist.",
    fix: "Check the deliveryId; old deliveries may have been deleted.",
  },
  channel_not_found: {
    status: 404,
    retry: false,
    title: "The channel is not configured.",
    fix: "List the channels with GET /api/channels, or add this one to `channels` in the configuration.",
  },
  rule_not_found: {
    status: 404,
    retry: false,
    title: "The rule does not exist.",
    fix: "List the rules of `notify` with GET /api/notify.",
  },
  session_not_found: {
    status: 404,
    retry: false,
    title: "The session does not exist.",
    fix: "Check the sessionKey: a session exists after its first run.",
  },
  method_not_allowed: {
    status: 405,
    retry: false,
    title: "This URL does not support this HTTP method.",
    fix: "Use a method that the `Allow` header lists.",
  },
  idempotency_conflict: {
    status: 409,
    retry: false,
    title: "The Idempotency-Key was used with a different request.",
    fix: "Use a new key for each new request, and the same key and body for a repetition.",
  },
  run_state_conflict: {
    status: 409,
    retry: false,
    title: "The current status of the run does not allow this action.",
    fix: "Read the run. Only failed runs can be retried, and only queued or running ones cancelled.",
  },
  request_state_conflict: {
    status: 409,
    retry: false,
    title: "The request to a hook cannot be replayed.",
    fix: "Let the sender send it again: a refused request is kept without its body.",
  },
  delivery_state_conflict: {
    status: 409,
    retry: false,
    title: "The current state of the delivery does not allow this action.",
    fix: "Read the delivery. A delivery that was sent cannot be sent again or cancelled.",
  },
  job_ended: {
    status: 409,
    retry: false,
    title: "The job has already ended.",
    fix: "Read the job: its status says how it ended. Only a running job can be cancelled.",
  },
  gate_answered: {
    status: 409,
    retry: false,
    title: "The gate was answered already.",
    fix: "Read the answer in `gate`. To ask again, open a gate with another key.",
  },
  gate_closed: {
    status: 409,
    retry: false,
    title: "The gate has expired or was withdrawn.",
    fix: "Read `gate`. To ask again, open a gate with another key.",
  },
  too_many_gates: {
    status: 409,
    retry: false,
    title: "The job has reached the maximum number of open gates.",
    fix: "Wait for answers, or withdraw gates that are no longer needed.",
  },
  too_many_steps: {
    status: 409,
    retry: false,
    title: "The job has reached the maximum size of its steps.",
    fix: "Report further steps to another job.",
  },
  body_too_large: {
    status: 413,
    retry: false,
    title: "The request body is too large.",
    fix: "Send a smaller body. Store large data elsewhere and send a reference to it.",
  },
  unsupported_media_type: {
    status: 415,
    retry: false,
    title: "The request body must be JSON in UTF-8.",
    fix: "Set the header `Content-Type: application/json`, and omit `Content-Encoding`.",
  },
  rate_limited: {
    status: 429,
    retry: true,
    title: "Too many requests.",
    fix: "Wait for the seconds in `Retry-After`, then send the request again.",
  },
  cancelled: {
    status: 409,
    retry: false,
    title: "The run was cancelled.",
    fix: "Retry the run if it was cancelled by mistake.",
  },
  agent_failed: {
    status: 502,
    retry: false,
    title: "The agent could not complete the run.",
    fix: "Read the error of the run, correct the configuration under `agents` or the request, and retry the run.",
  },
  agent_unavailable: {
    status: 503,
    retry: true,
    title: "The agent could not be reached.",
    fix: "Check the model server or the program under `agents.runners`. The service retries the run by itself.",
  },
  transform_failed: {
    status: 502,
    retry: false,
    title: "The transform of the mapping failed.",
    fix: "Correct the transform module, then retry the run.",
  },
  mapping_failed: {
    status: 502,
    retry: false,
    title: "The mapping could not create a run from the request.",
    fix: "Correct the mapping in `hooks.mappings`, then retry the run.",
  },
  timeout: {
    status: 504,
    retry: false,
    title: "The run exceeded its time limit.",
    fix: "Raise `timeoutSeconds`, or give the agent a smaller task, then retry the run.",
  },
  internal: {
    status: 500,
    retry: true,
    title: "The service had an internal error.",
    fix: "Send the request again. If it fails again, look for its `X-Request-Id` in the log of the service.",
  },
  unavailable: {
    status: 503,
    retry: true,
    title: "The service is temporarily unavailable.",
    fix: "Send the same request again after the seconds in `Retry-After`. Check MongoDB and Redis if it lasts.",
  },
} as const satisfies Record<string, { status: number; retry: boolean; title: string; fix: string }>;

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
  /** Further fields of the response. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error of the catalogue. Only this class reaches a client with its own message. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: readonly ErrorItem[] | undefined;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** When the request may be tried again, if known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.detail ?? ERRORS[code].title, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.errors = options.errors;
    this.body = options.body;
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

/** Returns a handler that ignores errors with these codes, and throws all others again. */
export const ignore =
  (...codes: readonly ErrorCode[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof AppError && codes.includes(error.code))) throw error;
  };

/** Returns an error about one field of a body. @param detail follows the name of the field */
export function invalidField(field: string, detail: string): AppError {
  const pointer = `/${field.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return new AppError("invalid_body", { detail: `${field} ${detail}.`, errors: [{ pointer, detail }] });
}
