import { ERRORS, type ErrorCode } from "./errorCatalogue.ts";

/** One fault in a body or a URL: its place (JSON Pointer in a body, parameter name in a URL) and how to correct it. */
export interface ErrorItem {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly detail: string;
}

export interface AppErrorOptions {
  readonly detail?: string;
  readonly errors?: readonly ErrorItem[];
  readonly retryAfterSeconds?: number | undefined;
  /** Further fields of the response. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
  /** The words of an outside service, which may quote a body. */
  readonly quote?: string | undefined;
}

/** An error of the catalogue. Only this class reaches a client with its own message. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: readonly ErrorItem[] | undefined;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** When the request may be tried again, if known. */
  readonly retryAfterSeconds: number | undefined;
  readonly #quote: string | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.detail ?? ERRORS[code].title, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.errors = options.errors;
    this.body = options.body;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.#quote = options.quote;
    this.headers = {
      ...(options.retryAfterSeconds !== undefined && { "Retry-After": String(Math.ceil(options.retryAfterSeconds)) }),
      ...options.headers,
    };
  }

  /** The words of an outside service. They are no property of their own, so that no log contains them. */
  get quote(): string | undefined {
    return this.#quote;
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

/** Returns an error about a nested value of a body. @param path its JSON Pointer without the first slash */
export const invalidValue = (path: string, detail: string): AppError =>
  new AppError("invalid_body", { detail: `${path} ${detail}.`, errors: [{ pointer: `/${path}`, detail }] });
