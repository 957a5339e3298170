import { mongo } from "mongoose";
import { AppError } from "../../shared/errors.ts";

/** The codes of BSONObjectTooLarge, and of updates whose result would be too large. */
export const TOO_LARGE: ReadonlySet<unknown> = new Set([10334, 17280, 17419]);

/**
 * The codes of a server that is stopping, stepping down, not yet primary, or short of members.
 * Source: "retryable" errors of the MongoDB retryable reads and writes specifications, and WriteConcernTimeout (64).
 */
const TRANSIENT_CODES = new Set([6, 7, 50, 64, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11601, 11602, 13435, 13436]);

/**
 * Runs an operation on the database, and maps the driver's errors to those of the API.
 * @throws AppError unavailable, body_too_large; any other error unchanged
 */
export async function mapMongoErrors<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw mapError(error);
  }
}

function mapError(thrown: unknown): unknown {
  const error = unwrap(thrown);
  const isTooLarge =
    error instanceof mongo.MongoServerError
      ? TOO_LARGE.has(error.code)
      : (error as NodeJS.ErrnoException)?.code === "ERR_OUT_OF_RANGE"; // The driver's buffer is too small for the document.
  if (isTooLarge) {
    const detail = "The document would exceed MongoDB's limit of 16 MiB. Send less input, metadata or output.";
    return new AppError("body_too_large", { detail, cause: error });
  }
  if (!isTransient(error)) return error;
  const detail = "MongoDB cannot be reached. Send the same request again.";
  return new AppError("unavailable", { detail, retryAfterSeconds: 2, cause: error });
}

/** The codes of a broken connection that the driver has not wrapped in an error of its own. */
const BROKEN_CONNECTION = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT"]);

/** Returns the cause of a bulk write that failed as a whole, which the driver wraps, or the error itself. */
const unwrap = (error: unknown): unknown =>
  error instanceof mongo.MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error
    ? error.errorResponse
    : error;

/**
 * Returns whether an error passes by itself. Errors of the server are classified by code or label. All errors of the driver about
 * connections, sessions and pools pass.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof mongo.MongoServerError) {
    return TRANSIENT_CODES.has(Number(error.code)) || error.hasErrorLabel("RetryableWriteError");
  }
  if (error instanceof mongo.MongoInvalidArgumentError) return false;
  return error instanceof mongo.MongoError || BROKEN_CONNECTION.has((error as NodeJS.ErrnoException)?.code ?? "");
}

/**
 * Returns the error of a bulk write of which single writes failed, also where the first of them was too large; undefined for any
 * other error.
 */
export function partFailure(thrown: unknown): mongo.MongoBulkWriteError | undefined {
  const isTooLarge = thrown instanceof AppError && thrown.code === "body_too_large";
  const error = isTooLarge ? thrown.cause : thrown;
  return error instanceof mongo.MongoBulkWriteError ? error : undefined;
}

/** Returns whether a write failed because a document with the same unique key exists. */
export const isDuplicateKey = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 11000;
