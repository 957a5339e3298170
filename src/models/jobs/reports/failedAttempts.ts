import type { mongo } from "mongoose";
import * as f from "../../db/fields.ts";

/** Maximum failed attempts that a step or a run keeps. Older ones are dropped. */
export const MAX_FAILED_ATTEMPTS = 20;

/** Maximum characters of a kept error, so that the attempts of one step take at most 80 kB. */
const MAX_ERROR_CHARS = 1_000;

/** A failed attempt of a step, as the step stores it. */
export const FailedAttempt = f.object({
  attempt: f.number,
  /** The step's message when it failed. */
  error: f.nullable(f.string),
  startedAt: f.date,
  endedAt: f.date,
});

/** Returns failed attempts as clients read them. */
export const viewFailedAttempts = <Attempt extends { startedAt: Date; endedAt: Date }>(
  attempts: readonly Attempt[],
): (Omit<Attempt, "startedAt" | "endedAt"> & { startedAt: string; endedAt: string })[] =>
  attempts.map((failed) => ({
    ...failed,
    startedAt: failed.startedAt.toISOString(),
    endedAt: failed.endedAt.toISOString(),
  }));

export const cutErrorText = (text: string): string => text.slice(0, MAX_ERROR_CHARS).toWellFormed();

/**
 * Returns the expression for the failed attempts of a step after it is reported as failed. A failure that is reported again
 * replaces its attempt. A document without room keeps the attempts that it has.
 * @param step the path of the step
 * @param message the message of the report; undefined if it has none
 * @param endedAt the expression for the end of the step
 * @param maxBytes size of the document from which it has no room
 */
export function failedAttempts(
  step: string,
  { message, endedAt, now, maxBytes }: { message: string | undefined; endedAt: unknown; now: Date; maxBytes: number },
): mongo.Document {
  const before = { $ifNull: [`${step}.failedAttempts`, []] };
  const attempt = { $ifNull: [`${step}.attempts`, 1] };
  const others = { $filter: { input: before, cond: { $ne: ["$$this.attempt", attempt] } } };
  const error =
    message === undefined
      ? { $cond: [{ $eq: [{ $type: `${step}.message` }, "string"] }, cutAt(`${step}.message`), null] }
      : { $literal: cutErrorText(message) };
  const failed = { attempt, error, startedAt: { $ifNull: [`${step}.startedAt`, now] }, endedAt };
  const all = { $slice: [{ $concatArrays: [others, [failed]] }, -MAX_FAILED_ATTEMPTS] };
  return { $cond: [{ $lt: [{ $bsonSize: "$$ROOT" }, maxBytes] }, all, before] };
}

const cutAt = (path: string): mongo.Document => ({ $substrCP: [path, 0, MAX_ERROR_CHARS] });
