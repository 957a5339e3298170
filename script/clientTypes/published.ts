import Type, { type TSchema } from "typebox";
import * as s from "../../src/wire/blocks.ts";
import { CancelRequest, JobHead, JobRead } from "../../src/wire/job.ts";
import { SingleStep, StepSummary } from "../../src/wire/step.ts";
import type { Published } from "./shapes.ts";
import { pythonModule } from "./python.ts";
import { typescriptFile } from "./typescript.ts";

interface ClientType {
  readonly schema: TSchema;
  readonly about: string;
  /** The name in Python; without it the Python client does not publish the type. */
  readonly python?: string;
  readonly partial?: boolean;
}

/** A job as whichever call returns it. */
const AnyJob = Type.Object({ ...JobRead.properties, cancelRequested: s.cancelRequested }, s.named("JobWithSteps"));

/** The types of the JavaScript client, by file, and those of them that the Python client has too. */
const TYPES: Readonly<Record<string, Readonly<Record<string, ClientType>>>> = {
  "jobs.ts": {
    FreeObject: { schema: s.FreeObject(""), about: "Any JSON object." },
    Status: { schema: s.Status, about: "The status of a job or a step.", python: "Status" },
    StepSummary: {
      schema: StepSummary,
      about: "A step without its output, as in live events and in `currentStep`.",
      python: "StepSummaryRecord",
    },
    FailedStepAttempt: {
      schema: titled(SingleStep, "FailedStepAttempt"),
      about: "An attempt of a step that failed.",
      python: "FailedStepAttemptRecord",
    },
    Step: { schema: SingleStep, about: "A step, as the service returns it.", python: "StepRecord", partial: true },
    CancelRequest: { schema: CancelRequest, about: "A request to cancel a job.", python: "CancelRecord" },
    JobSummary: { schema: JobHead, about: "A job as in live events." },
    Job: {
      schema: AnyJob,
      about:
        "A job. A token without the scope `jobs:read` receives only its ids, status, progress and times from a change.",
      python: "JobRecord",
      partial: true,
    },
  },
};
