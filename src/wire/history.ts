import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";
import { Usual } from "./job.ts";

/** Maximum runs of a name in a history: the newest ones. */
export const MAX_RUNS = 20;

const Run = Type.Object(
  {
    jobId: s.JobId,
    status: Type.Enum(["running", "completed", "failed", "cancelled"], { description: "The state of the job." }),
    durationMs: Type.Integer({
      description: "How long the job took, or has run so far, in milliseconds. Waiting for gates does not count.",
    }),
    startedAt: s.Timestamp("When the job was created, or last started again after its end."),
  },
  s.named("HistoryRun"),
);

/** The newest jobs of a name. */
export const NameHistory = Type.Object(
  {
    name: Type.String({
      description: "The name of the jobs. `#` stands for digits where more than five names differ in them alone.",
    }),
    runs: Type.Array(Run, { description: `The newest jobs of the window, newest first, at most ${MAX_RUNS}.` }),
    usual: s.nullable(Usual, { description: "How long jobs of the newest name take; null for less than five." }),
    lastFailure: s.nullable(
      Type.Object(
        {
          jobId: s.JobId,
          at: s.Timestamp("When it failed."),
          message: s.nullable(Type.String(), { description: "The beginning of its message." }),
        },
        s.named("LastFailure"),
      ),
      { description: "The newest failed job of the window that was not cancelled; null if none failed." },
    ),
    nextDueAt: s.nullable(s.Timestamp("By when a further job is expected."), {
      description: "By when an expectation (`expect`) needs a further job; null if there is none.",
    }),
  },
  s.named("NameHistory"),
);
export type NameHistory = Static<typeof NameHistory>;
