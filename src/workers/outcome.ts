import { DelayedError, type Job, UnrecoverableError } from "bullmq";
import { type AppError, toAppError } from "../shared/errors.ts";

/** How one try of a job ended: the only answers that a processor gives to its queue. */
export type ProcessorOutcome =
  | {
      readonly kind: "done";
      readonly result?: Readonly<Record<string, number | string | boolean>>;
      /** Whether there was nothing to do, which only the debug log mentions. */
      readonly isIdle?: boolean;
    }
  /** The job has not started. It makes room for others and comes back after `ms`. */
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "retry"; readonly error: AppError }
  | { readonly kind: "discard"; readonly error: AppError };

/**
 * Translates an outcome to BullMQ; no other function does so.
 * @throws DelayedError after the job was moved, UnrecoverableError for `discard`, the error itself for `retry`
 */
export async function toBullMq(outcome: ProcessorOutcome, job: Job, token: string | undefined): Promise<unknown> {
  switch (outcome.kind) {
    case "done":
      return outcome.result;
    case "delay":
      await job.moveToDelayed(Date.now() + outcome.ms, token);
      throw new DelayedError();
    case "retry":
      throw outcome.error;
    case "discard":
      throw new UnrecoverableError(`${outcome.error.code}: ${outcome.error.message}`);
  }
}

/** Returns the outcome of a processor that threw: the catalogue of errors decides whether the job is retried. */
export function outcomeOfThrown(thrown: unknown): ProcessorOutcome {
  const error = toAppError(thrown);
  return { kind: error.retry ? "retry" : "discard", error };
}
