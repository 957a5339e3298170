import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";
import { GivenLinks, Links } from "./link.ts";
import { JobReturn, ReturnTo, ReturnToChange } from "./runs/return.ts";
import { SingleStep, StepSummary, StepView } from "./step.ts";

const StaleAfterSeconds = Type.Integer({
  minimum: 1,
  maximum: 31_536_000,
  description: "Seconds without a report after which a running job counts as stale.",
});

export const Reason = Type.String({
  minLength: 1,
  maxLength: 512,
  description: "Why the result is no longer wanted.",
});

export const CancelRequest = Type.Object(
  {
    requestedAt: s.Timestamp("When cancellation was requested first."),
    reason: s.nullable(Reason),
  },
  s.named("CancelRequest"),
);

/** How long jobs of a name usually take. */
export const Usual = Type.Object(
  {
    p50Ms: Type.Integer({ description: "Half of them took at most this time in milliseconds, within 5 %." }),
    p95Ms: Type.Integer({ description: "95 % of them took at most this time in milliseconds, within 5 %." }),
    count: s.Count("The number of these jobs."),
  },
  s.named("UsualDuration"),
);
export type Usual = Static<typeof Usual>;

const job = {
  jobId: s.JobId,
  name: s.nullable(s.Name),
  description: s.nullable(s.Text, { description: "A description for people." }),
  input: s.nullable(s.FreeObject("Input of the job: any JSON object.")),
  metadata: s.nullable(s.FreeObject('Data to find the job by, such as `{"team": "data"}`: any JSON object.')),
  status: s.Status,
  progress: s.Progress("Progress of the whole job in percent. Never decreases."),
  message: s.nullable(s.Text, { description: "The latest message of the job or of one of its steps." }),
  output: s.nullable(s.FreeObject("Result of the job: any JSON object. Null until the job completes.")),
  createdAt: s.Timestamp("When the job was created."),
  updatedAt: s.Timestamp("When the job last changed."),
  lastReportAt: s.nullable(
    s.Timestamp("When the job or one of its steps was last reported. Null before the first report."),
  ),
  stale: Type.Boolean({
    description: "True if the job is running and has not been reported for longer than `staleAfterSeconds`.",
  }),
  staleAt: s.nullable(
    s.Timestamp(
      "When the job becomes stale unless it is reported again. Null after the job has ended, and while it waits for a person.",
    ),
  ),
  staleAfterSeconds: s.nullable(StaleAfterSeconds, {
    description:
      "Seconds without a report after which the running job counts as stale. Null means the configured `jobs.staleAfterSeconds`.",
  }),
  usual: s.nullable(Usual, {
    description:
      "How long jobs of this name took that completed in the last 60 days, without waiting for gates. Null for less than five such jobs.",
  }),
  expectedEndAt: s.nullable(
    s.Timestamp(
      "When the running job ends if it takes as long as half of those before it. Null without `usual`, and while it waits for a person.",
    ),
  ),
  cancel: s.nullable(CancelRequest, {
    description:
      "The request to cancel the job; null without one. A failed job with such a request is cancelled. Null again when the job is started again after its end.",
  }),
  waitingFor: Type.Array(Type.String(), {
    description: "The keys of the open gates, oldest first. While the job waits for a person, it is not stale.",
  }),
  returnTo: s.nullable(ReturnTo, {
    description: "The session of the agent that the job wakes; null if it wakes none.",
  }),
  returns: Type.Array(JobReturn, {
    description: "The latest transitions that have woken a session, at most 20, oldest first.",
  }),
  currentStep: s.nullable(StepSummary, {
    description: "The running step that was reported last. Null if no step is running.",
  }),
  stepCounts: s.StatusCounts("The number of the job's steps by status."),
  links: Links,
  children: s.StatusCounts("The number of the jobs that name this one as their parent, by status; at most 100,000."),
  traceparent: s.nullable(Type.String(), {
    description:
      "The trace of the run that the job is in, as the header `traceparent` of W3C Trace Context states it, for spans of your own below it. Null unless the service sends traces (`otel.traces`).",
  }),
  parentJobId: s.nullable(s.JobId, { description: "The job that this one is a part of. It need not exist." }),
};

export const JOB_FIELDS = Object.keys(job) as (keyof typeof job)[];

/** A job as lists show it. */
export const JobView = Type.Object(job);
export type JobView = Static<typeof JobView>;

/** A job in the response to a change of it. */
export const ChangedJob = Type.Object({ ...job, cancelRequested: s.cancelRequested }, s.named("Job"));
export type ChangedJob = Static<typeof ChangedJob>;

const { input: _input, metadata: _metadata, output: _output, ...head } = job;
/** A job as the live events show it. */
export const JobHead = Type.Object(head, s.named("JobHead"));
export type JobHead = Static<typeof JobHead>;

/** A changed job for a caller that may not read jobs. */
export const JobReceipt = {
  unless: ["jobs:read"],
  schema: Type.Pick(
    ChangedJob,
    [
      "jobId",
      "status",
      "progress",
      "createdAt",
      "updatedAt",
      "lastReportAt",
      "staleAt",
      "traceparent",
      "cancelRequested",
    ],
    s.named("JobReceipt"),
  ),
} as const;
export const JobRow = Type.Partial(JobView, s.named("JobRow"));

/** A job that is read on its own. */
export const JobRead = Type.Object(
  {
    ...job,
    step: Type.Optional(
      s.nullable(SingleStep, { description: "The step that `stepKey` names; null if it does not exist." }),
    ),
    steps: Type.Optional(
      Type.Array(StepView, { description: "All steps, oldest first; present with `include=steps`." }),
    ),
  },
  s.named("JobWithSteps"),
);
export type JobRead = Static<typeof JobRead>;

/** The fields of a job that its creator sets. A missing field stays unchanged, and null clears a field. */
export const JobFields = Type.Object({
  name: Type.Optional(job.name),
  description: Type.Optional(job.description),
  input: Type.Optional(job.input),
  metadata: Type.Optional(job.metadata),
  staleAfterSeconds: Type.Optional(s.nullable(StaleAfterSeconds)),
  callbackUrl: Type.Optional(s.nullable(s.CallbackUrl("job"))),
  links: GivenLinks,
  parentJobId: Type.Optional(
    s.nullable(
      s.Identifier("The job that this one is a part of. It need not exist, and must be one that the token may use."),
    ),
  ),
  returnTo: Type.Optional(s.nullable(ReturnToChange)),
});

/** The fields of a job that a client may change. */
export const JobChange = Type.Object({
  ...JobFields.properties,
  status: Type.Optional(s.Status),
  progress: Type.Optional(
    s.Progress("Progress of the job in percent, to correct it by hand. A lower value than the current one is ignored."),
  ),
  message: Type.Optional(s.nullable(s.Text, { description: "The message of the job. Steps set it too." })),
  output: Type.Optional(s.nullable(s.FreeObject("Result of the job, to correct it by hand: any JSON object."))),
});
export type JobChange = Static<typeof JobChange>;
export const CHANGE_FIELDS = Object.keys(JobChange.properties) as (keyof JobChange)[];

const otherFields = Object.keys({ ...JobRead.properties, cancelRequested: true }).filter(
  (field) => !(field in JobChange.properties),
);
/** The body that creates or changes a job. */
export const JobBody = Type.Object({ ...JobChange.properties, ...s.readOnly(...otherFields) }, s.named("JobChange"));
