import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";
import { LogLevel } from "./log.ts";

const SharedStep = Type.Object(
  {
    stepName: Type.String({ description: "The name of the step." }),
    status: s.Status,
    progress: s.Progress("Progress of the step in percent."),
    startedAt: s.Timestamp("When its last attempt started."),
    endedAt: s.TimestampOrNull("When it ended; null while it runs."),
  },
  s.named("SharedStep"),
);

/** A job as a link shows it to whoever has the link. */
export const SharedJob = Type.Object(
  {
    title: Type.String({ description: "The name of the job, or its jobId." }),
    status: Type.Enum(["running", "completed", "failed", "cancelled"], { description: "The state of the job." }),
    progress: s.Progress("Progress of the whole job in percent."),
    message: s.nullable(s.Text, { description: "The latest message of the job or of one of its steps." }),
    stale: Type.Boolean({ description: "True if the running job has not been reported for too long." }),
    waiting: Type.Boolean({ description: "True while the job waits for a person." }),
    createdAt: s.Timestamp("When the job was created."),
    lastReportAt: s.TimestampOrNull("When it was last reported."),
    endedAt: s.TimestampOrNull("When it ended; null while it runs."),
    steps: Type.Array(SharedStep, { description: "The last 200 steps, oldest first." }),
    stepCount: s.Count("The number of all steps."),
    output: Type.Optional(s.nullable(s.FreeObject("Present if the link includes it."))),
    log: Type.Optional(
      Type.Array(
        Type.Object(
          {
            at: s.Timestamp("When the line was written."),
            level: s.nullable(LogLevel),
            text: Type.String({ description: "The line, without colours." }),
          },
          s.named("SharedLine"),
        ),
        { description: "The last 200 lines of all steps, oldest first. Present if the link includes it." },
      ),
    ),
    expiresAt: s.Timestamp("When the link ends."),
  },
  s.named("SharedJob"),
);
export type SharedJob = Static<typeof SharedJob>;
