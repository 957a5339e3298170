import { DelayedError, type Job, UnrecoverableError } from "bullmq";
import { type AppError, toAppError } from "../shared/errors.ts";

/** What became of one attempt. */
export type Outcome =
  | {
      readonly kind: "done";
      readonly result?: Readonly<Record<string, number | string>>;
      /** What goes on without the queue's entry, and without its place among those done at a time; it never rejects. */
      readonly rest?: Promise<void> | undefined;
    }
  /** Not begun: it makes room for others, and comes again after so long. */
  | { readonly kind: "later"; readonly ms: number }
  | { readonly kind: "retry"; readonly error: AppError }
  | { readonly kind: "discard"; readonly error: AppError };

/** The only function that knows how an outcome is said in BullMQ: what it throws is the job's failure, or its delay. */
export async function settle(outcome: Outcome, job: Job, token: string | undefined): Promise<unknown> {
  switch (outcome.kind) {
    case "done":
      return outcome.result;
    case "later":
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
