import { mongo } from "mongoose";
import { AppError } from "../../shared/errors.ts";

/** BSONObjectTooLarge, and an update whose result would be. */
const TOO_LARGE = new Set([10334, 17280, 17419]);

/**
 * The server is stopping, stepping down, not yet primary, or short of members: it passes by itself.
 * Source: "retryable" errors of the MongoDB retryable reads and writes specifications, and WriteConcernTimeout (64).
 */
const PASSING = new Set([6, 7, 50, 64, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11601, 11602, 13435, 13436]);

/**
 * Runs an act on the database and names what can go wrong with it.
 * @throws AppError unavailable, body_too_large; anything else as it was thrown
 */
export async function mapMongoErrors<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw mapError(error);
  }
}

function mapError(thrown: unknown): unknown {
  const error = unwrap(thrown);
  const isTooLarge =
    error instanceof mongo.MongoServerError
      ? TOO_LARGE.has(Number(error.code))
      : (error as NodeJS.ErrnoException)?.code === "ERR_OUT_OF_RANGE"; // the driver's own buffer is too small for it
  if (isTooLarge) {
    const detail = "The document would pass MongoDB's 16 MiB: send less input, metadata or output.";
    return new AppError("body_too_large", { detail, cause: error });
  }
  if (!isTransient(error)) return error;
  const detail = "MongoDB cannot be reached. Send the same request again.";
  return new AppError("unavailable", { detail, retryAfterSeconds: 2, cause: error });
}

/** The connection broke under an act before the driver had made an error of its own of it. */
const BROKEN = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT"]);

/** What the driver throws of a bulk write that failed as a whole is wrapped. */
const unwrap = (error: unknown): unknown =>
  error instanceof mongo.MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error
    ? error.errorResponse
    : error;

/** What a server answered counts by its code or label; what the driver says of its connections, sessions and pools passes. */
export function isTransient(error: unknown): boolean {
  if (error instanceof mongo.MongoServerError) {
    return PASSING.has(Number(error.code)) || error.hasErrorLabel("RetryableWriteError");
  }
  if (error instanceof mongo.MongoInvalidArgumentError) return false;
  return error instanceof mongo.MongoError || BROKEN.has((error as NodeJS.ErrnoException)?.code ?? "");
}

const UPSERT_TRIES = 5;

/** Runs an upsert again when a concurrent one made the document first; the second run then finds it. */
export async function retryUpsert<T>(upsert: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await upsert();
    } catch (error) {
      if (!isDuplicateKey(error) || tries === UPSERT_TRIES) throw error;
    }
  }
}

/** Whether a write failed because another one made the same key first. */
export const isDuplicateKey = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 11000;

/**
 * Runs an idempotent operation, and runs it once more if it fails with an error that passes by itself: MongoDB may have carried
 * out the first one without its answer.
 */
export async function retryOnce<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (!isTransient(unwrap(error))) throw error;
    return operation();
  }
}
