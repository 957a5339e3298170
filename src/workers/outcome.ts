import { DelayedError, type Job, UnrecoverableError } from "bullmq";
import { type AppError, toAppError } from "../shared/errors.ts";

/** How one attempt ended. */
export type Outcome =
  | { readonly kind: "done"; readonly result?: Readonly<Record<string, number | string>> }
  /** It has not begun: it makes room for others, and comes back after `ms`. */
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "retry"; readonly error: AppError }
  | { readonly kind: "discard"; readonly error: AppError };

/** Translates an outcome to BullMQ, which no other function does: an error that it throws is the job's failure or delay. */
export async function toBullMq(outcome: Outcome, job: Job, token: string | undefined): Promise<unknown> {
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

/** A processor that threw said nothing about retrying; the table of errors decides. */
export function outcomeOfThrown(thrown: unknown): Outcome {
  const error = toAppError(thrown);
  return { kind: error.retry ? "retry" : "discard", error };
}
