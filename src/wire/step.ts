import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";
import { Links } from "./link.ts";

const receipt = {
  stepId: Type.String({ format: "uuid", description: "Identifies the step. Assigned by the service." }),
  jobId: s.JobId,
  stepKey: s.StepKey,
  stepName: s.Name,
  status: s.Status,
  progress: s.Progress("Progress of the step in percent."),
  message: s.nullable(s.Text, { description: "The latest message of the step." }),
  createdAt: s.Timestamp("When the step was first reported."),
  updatedAt: s.Timestamp("When the step was last reported."),
  startedAt: s.Timestamp("When the current attempt of the step started."),
};

const summary = {
  ...receipt,
  attempts: Type.Integer({
    minimum: 1,
    description: "Number of attempts. Increases when a failed or completed step is reported as running again.",
  }),
  lastReportAt: s.Timestamp("When the step was last reported."),
  links: Links,
  stale: Type.Boolean({
    description:
      "True if the step is running and has not been reported for longer than the job allows (`staleAfterSeconds`).",
  }),
};

const Output = s.nullable(s.FreeObject("Result of the step: any JSON object."));

/** A step as the response to a report shows it. */
export const StepReceipt = Type.Object({ ...receipt, cancelRequested: s.cancelRequested }, s.named("StepReceipt"));
export type StepReceipt = Static<typeof StepReceipt>;
/** A reported step for a caller that may not read jobs. */
export const BareStepReceipt = {
  unless: ["jobs:read"],
  schema: Type.Omit(StepReceipt, ["stepName", "message"], s.named("BareStepReceipt")),
} as const;
/** A step without its output, as `currentStep` and the live events show it. */
export const StepSummary = Type.Object(summary, s.named("StepSummary"));
export type StepSummary = Static<typeof StepSummary>;
const step = { ...summary, output: Output };
/** A step as lists show it. */
export const StepView = Type.Object(step, s.named("Step"));
export type StepView = Static<typeof StepView>;
export const STEP_FIELDS = Object.keys(step) as (keyof typeof step)[];
export const StepRow = Type.Partial(StepView, s.named("StepRow"));
export const FailedStepAttempt = s.FailedAttempt(
  "FailedStepAttempt",
  s.nullable(Type.String({ description: "The message of the step when it failed, at most 1,000 characters of it." })),
  {},
);

/** A step that is read on its own. */
export const SingleStep = Type.Object(
  {
    ...step,
    failedAttempts: s.FailedAttempts(
      FailedStepAttempt,
      "The latest 20 failed attempts, oldest first. Present if an attempt has failed.",
    ),
    durationMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "Duration of the latest attempt in milliseconds. Present when the step is completed.",
      }),
    ),
  },
  s.named("SingleStep"),
);
export type SingleStep = Static<typeof SingleStep>;
