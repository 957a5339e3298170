import Type, { type TProperties, type TSchema } from "typebox";
import { CURSOR_PATTERN } from "../../models/db/cursor.ts";
import { ID_CURSOR_PATTERN } from "../../models/db/idCursor.ts";
import { MAX_CALLBACK_URL_CHARS } from "../../shared/outbound/callbackUrl.ts";
import { IDENTIFIER_PATTERN } from "../../shared/text/text.ts";

/** Building blocks of the routes' schemas. A schema with a title becomes a named schema in openapi.json. */

/** Returns the schema of a value that may be null, by default with the description of the value. */
export const nullable = <T extends TSchema>(schema: T, options = {}) => {
  const { description } = schema as { description?: string };
  return Type.Union([schema, Type.Null()], { ...(description !== undefined && { description }), ...options });
};

/** Returns the schema of the rows of a page. */
export const Rows = <T extends TSchema>(row: T) => Type.Array(row, { description: "The rows of this page." });

export const Identifier = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, pattern: IDENTIFIER_PATTERN, description });

/** The last part of a ping's path: how the program ended, or its progress. */
export const PING_STATE_PATTERN = "^(done|fail|[1-9]?[0-9](\\.[0-9]{1,15})?)$";

export const JobId = Identifier("Identifies the job. Chosen by the client; percent-encode it in a URL.");
export const StepKey = Identifier(
  "Identifies the step within its job. Chosen by the client; percent-encode it in a URL.",
);

export const Status = Type.Enum(["running", "completed", "failed"], {
  title: "Status",
  description: "Whether the work is in progress, has succeeded or has failed.",
});

export const Progress = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });

export const FreeObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: "object",
    additionalProperties: true,
    title: "JsonObject",
    description,
  });

export const Timestamp = (description: string) => Type.String({ format: "date-time", description });
export const TimestampOrNull = (description: string) => nullable(Timestamp(description));

export const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const Name = Type.String({ maxLength: 1_024, description: "A name for people." });
export const Text = Type.String({ maxLength: 65_536 });

/** The address of a callback. Its host is checked by `checkCallbackUrl`. */
export const CallbackUrl = (subject: string) =>
  Type.String({
    minLength: 1,
    maxLength: MAX_CALLBACK_URL_CHARS,
    description: `Address to which the end of the ${subject} is sent as a signed webhook. Its host must match \`outbound.allowedHosts\` of the configuration.`,
  });

/** Returns the schemas of fields that a client may send back unchanged; the service ignores them. */
export const readOnly = (...names: string[]): TProperties =>
  Object.fromEntries(
    names.map((name) => [
      name,
      Type.Optional(
        Type.Unknown({ readOnly: true, description: "Ignored: you can send a record back as you read it." }),
      ),
    ]),
  );

/** The schema of a response without a body. */
export const NoContent = Type.Unsafe<undefined>({ not: {} });

const closed = { additionalProperties: false } as const;

/** Returns the options of an object without other fields that is a named schema in openapi.json. */
export const named = <T extends string>(title: T) => ({ ...closed, title });

export const RuleId = Identifier("The id of a rule of `notify`.");

const receipt = {
  stepId: Type.String({ format: "uuid", description: "Identifies the step. Assigned by the service." }),
  jobId: JobId,
  stepKey: StepKey,
  stepName: Name,
  status: Status,
  progress: Progress("Progress of the step in percent."),
  message: nullable(Text, { description: "The latest message of the step." }),
  createdAt: Timestamp("When the step was first reported."),
  updatedAt: Timestamp("When the step was last reported."),
  startedAt: Timestamp("When the current attempt of the step started."),
};

const summary = {
  ...receipt,
  attempts: Type.Integer({
    minimum: 1,
    description: "Number of attempts. Increases when a failed or completed step is reported as running again.",
  }),
  lastReportAt: Timestamp("When the step was last reported."),
  stale: Type.Boolean({
    description:
      "True if the step is running and has not been reported for longer than the job allows (`staleAfterSeconds`).",
  }),
};

const Output = nullable(FreeObject("Result of the step: any JSON object."));

const cancelRequested = Type.Optional(
  Type.Literal(true, {
    description:
      "Present once cancellation of the job was requested: stop the work and report the step as failed with `failJob`. Reports that are in flight at the same time can still lack it.",
  }),
);

export const StepReceipt = Type.Object({ ...receipt, cancelRequested }, named("StepReceipt"));
/** A reported step for a caller that may not read jobs. */
export const BareStepReceipt = {
  unless: "jobs:read",
  schema: Type.Omit(StepReceipt, ["stepName", "message"], named("BareStepReceipt")),
} as const;
export const StepSummary = Type.Object(summary, named("StepSummary"));
const step = { ...summary, output: Output };
const StepView = Type.Object(step, named("Step"));
export const StepFields = Object.keys(step) as (keyof typeof step)[];
export const StepRow = Type.Partial(StepView, named("StepRow"));
/**
 * The latest attempts that failed.
 * @param title the name of one of them
 * @param error the schema of an error
 * @param further fields of an attempt
 */
export const FailedAttempts = (
  title: string,
  error: TSchema,
  description: string,
  further: Readonly<Record<string, TSchema>> = {},
) =>
  Type.Optional(
    Type.Array(
      Type.Object(
        {
          attempt: Type.Integer({ minimum: 1, description: "The number of the attempt." }),
          error,
          ...further,
          startedAt: Timestamp("When the attempt started."),
          endedAt: Timestamp("When the attempt failed."),
        },
        named(title),
      ),
      { maxItems: 20, description },
    ),
  );

export const SingleStep = Type.Object(
  {
    ...step,
    failedAttempts: FailedAttempts(
      "FailedStepAttempt",
      nullable(Type.String({ description: "The message of the step when it failed, at most 1,000 characters of it." })),
      "The latest 20 failed attempts, oldest first. Present if an attempt has failed.",
    ),
    durationMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "Duration of the latest attempt in milliseconds. Present when the step is completed.",
      }),
    ),
  },
  named("SingleStep"),
);

export const StaleAfterSeconds = Type.Integer({
  minimum: 1,
  maximum: 31_536_000,
  description: "Seconds without a report after which a running job counts as stale.",
});

export const Reason = Type.String({
  minLength: 1,
  maxLength: 512,
  description: "Why the result is no longer wanted.",
});

const Cancel = Type.Object(
  {
    requestedAt: Timestamp("When cancellation was requested first."),
    reason: nullable(Reason),
  },
  named("CancelRequest"),
);

const job = {
  jobId: JobId,
  name: nullable(Name),
  description: nullable(Text, { description: "A description for people." }),
  input: nullable(FreeObject("Input of the job: any JSON object.")),
  metadata: nullable(FreeObject('Data to find the job by, such as `{"team": "data"}`: any JSON object.')),
  status: Status,
  progress: Progress("Progress of the whole job in percent. Never decreases."),
  message: nullable(Text, { description: "The latest message of the job or of one of its steps." }),
  output: nullable(FreeObject("Result of the job: any JSON object. Null until the job completes.")),
  createdAt: Timestamp("When the job was created."),
  updatedAt: Timestamp("When the job last changed."),
  lastReportAt: nullable(
    Timestamp("When the job or one of its steps was last reported. Null before the first report."),
  ),
  stale: Type.Boolean({
    description: "True if the job is running and has not been reported for longer than `staleAfterSeconds`.",
  }),
  staleAt: nullable(
    Timestamp(
      "When the job becomes stale unless it is reported again. Null after the job has ended, and while it waits for a person.",
    ),
  ),
  staleAfterSeconds: nullable(StaleAfterSeconds, {
    description:
      "Seconds without a report after which the running job counts as stale. Null means the configured `jobs.staleAfterSeconds`.",
  }),
  cancel: nullable(Cancel, {
    description:
      "The request to cancel the job; null without one. A failed job with such a request is cancelled. Null again when the job is started again after its end.",
  }),
  waitingFor: Type.Array(Type.String(), {
    description: "The keys of the open gates, oldest first. While the job waits for a person, it is not stale.",
  }),
  currentStep: nullable(StepSummary, {
    description: "The running step that was reported last. Null if no step is running.",
  }),
};

export const JobFields = Object.keys(job) as (keyof typeof job)[];

export const JobView = Type.Object({ ...job, cancelRequested }, named("Job"));
const { input: _input, metadata: _metadata, output: _output, ...head } = job;
/** A job as the live events show it. */
export const JobHead = Type.Object(head, named("JobHead"));
/** A changed job for a caller that may not read jobs. */
export const JobReceipt = {
  unless: "jobs:read",
  schema: Type.Pick(
    JobView,
    ["jobId", "status", "progress", "createdAt", "updatedAt", "lastReportAt", "staleAt", "cancelRequested"],
    named("JobReceipt"),
  ),
} as const;
export const JobRow = Type.Partial(Type.Object(job), named("JobRow"));
export const JobRead = Type.Object(
  {
    ...job,
    step: Type.Optional(
      nullable(SingleStep, { description: "The step that `stepKey` names; null if it does not exist." }),
    ),
    steps: Type.Optional(
      Type.Array(StepView, { description: "All steps, oldest first; present with `include=steps`." }),
    ),
  },
  named("JobWithSteps"),
);

export const Ok = Type.Object({ ok: Type.Literal(true, { description: "Always true." }) }, named("Ok"));

export const nextCursor = nullable(Type.String(), {
  description: "Send it as `cursor` to read the next page. Null on the last page.",
});

export const cursor = (pattern: string) =>
  Type.Optional(Type.String({ pattern, description: "The `nextCursor` of the previous page." }));

export const paging = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: "Maximum number of rows in the page." }),
  ),
  cursor: cursor(CURSOR_PATTERN),
};

/** Paging of lists whose cursors contain an id. */
export const idPaging = { limit: paging.limit, cursor: cursor(ID_CURSOR_PATTERN) };
