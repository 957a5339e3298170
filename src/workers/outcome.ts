import { UnrecoverableError } from "bullmq";
import { type AppError, toAppError } from "../shared/errors.ts";

/** What became of one attempt. */
export type Outcome =
  | {
      readonly kind: "done";
      readonly result?: Readonly<Record<string, number | string>>;
      /** What goes on without the queue's entry, and without its place among those done at a time; it never rejects. */
      readonly rest?: Promise<void> | undefined;
    }
  | { readonly kind: "retry"; readonly error: AppError }
  | { readonly kind: "discard"; readonly error: AppError };

/** The only function that knows how an outcome is said in BullMQ: what it throws is the job's failure. */
export function settle(outcome: Outcome): unknown {
  switch (outcome.kind) {
    case "done":
      return outcome.result;
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
