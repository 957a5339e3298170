import Type, { type TProperties, type TSchema } from "typebox";
import { CURSOR_PATTERN } from "../models/db/cursor.ts";
import { ID_CURSOR_PATTERN } from "../models/db/idCursor.ts";
import { IDENTIFIER_PATTERN } from "../shared/text.ts";

/** Building blocks of the routes' schemas. A schema with a title becomes a named schema in openapi.json. */

export const nullable = <T extends TSchema>(schema: T, options = {}) => Type.Union([schema, Type.Null()], options);

export const Identifier = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, pattern: IDENTIFIER_PATTERN, description });

/** The last part of a ping's path: how the program ended, or its progress. */
export const PING_STATE_PATTERN = "^(done|fail|[1-9]?[0-9](\\.[0-9]{1,15})?)$";

export const JobId = Identifier("The caller's own name for the job.");
export const StepKey = Identifier("The orchestrator's name for the step, unique in its job.");

export const Status = Type.Enum(["running", "completed", "failed"], { title: "Status" });

export const Progress = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });

export const FreeObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description }));

export const Timestamp = (description: string) => Type.String({ format: "date-time", description });
export const TimestampOrNull = (description: string) => nullable(Timestamp(description));

export const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const Name = Type.String({ maxLength: 1_024 });
export const Text = Type.String({ maxLength: 65_536 });

/** Returns the schemas of fields that a client may send back unchanged; the service ignores them. */
export const readOnly = (...names: string[]): TProperties =>
  Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Unknown({ readOnly: true }))]));

const closed = { additionalProperties: false } as const;

export const Delivery = Type.Object(
  {
    deliveryId: Type.String(),
    runId: nullable(Type.String({ description: "Null for a turn of the main session." })),
    channel: Type.String(),
    to: nullable(Type.String({ description: "The recipient, as the channel names it; null when none was known." })),
    state: Type.Enum(["pending", "sent", "failed"]),
    attempts: Type.Integer({ description: "Tries so far; a try sends as many of the parts as it can." }),
    parts: Type.Array(
      Type.Object({ state: Type.Enum(["pending", "sending", "sent"]), id: nullable(Type.String()) }, closed),
      { description: "The messages that it became, with the service's own ids; none before the first try." },
    ),
    maybeTwice: Type.Boolean({ description: "A part may have arrived twice: the service has no key to tell." }),
    reason: nullable(Type.String({ description: "Why it failed, or why it waits." })),
    notBefore: nullable(Timestamp("When it is tried again; null where it may be at any time.")),
    createdAt: Timestamp("When the reply was there."),
    sentAt: nullable(Timestamp("When all of it was sent.")),
  },
  { ...closed, title: "Delivery" },
);

const receipt = {
  stepId: Type.String({ format: "uuid", description: "Given by the service." }),
  jobId: JobId,
  stepKey: StepKey,
  stepName: Name,
  status: Status,
  progress: Progress("The step's own progress."),
  message: nullable(Text),
  createdAt: Timestamp("When the step was first reported."),
  updatedAt: Timestamp("When the step was last reported."),
  startedAt: Timestamp("When the present attempt began."),
};

const summary = {
  ...receipt,
  attempts: Type.Integer({
    minimum: 1,
    description: "Grows when a failed or completed step is reported running again.",
  }),
  lastReportAt: Timestamp("When the step was last reported."),
  stale: Type.Boolean({ description: "Running, and silent for longer than the job's time to stale." }),
};

const Output = nullable(FreeObject("What the step produced."));

export const StepReceipt = Type.Object(receipt, { ...closed, title: "StepReceipt" });
const StepSummary = Type.Object(summary, { ...closed, title: "StepSummary" });
const step = { ...summary, output: Output };
const StepView = Type.Object(step, { ...closed, title: "Step" });
export const StepFields = Object.keys(step) as (keyof typeof step)[];
export const StepRow = Type.Partial(StepView, { ...closed, title: "StepRow" });
export const SingleStep = Type.Object(
  {
    ...step,
    durationMs: Type.Optional(
      Type.Integer({ minimum: 0, description: "Of the present attempt; once it is completed." }),
    ),
  },
  { ...closed, title: "SingleStep" },
);

export const StaleAfterSeconds = Type.Integer({ minimum: 1, maximum: 31_536_000 });

const job = {
  jobId: JobId,
  name: nullable(Name),
  description: nullable(Text),
  input: nullable(FreeObject("What the job works on.")),
  metadata: nullable(FreeObject("Whatever the caller wants to find the job by.")),
  status: Status,
  progress: Progress("Overall; never goes back."),
  message: nullable(Text, { description: "The latest message of any step." }),
  output: nullable(FreeObject("The final result.")),
  createdAt: Timestamp("When the job was created."),
  updatedAt: Timestamp("When anything of the job last changed."),
  lastReportAt: nullable(
    Timestamp("When the job or one of its steps was last reported; null before the first report."),
  ),
  stale: Type.Boolean({ description: "Running, and without a report for longer than staleAfterSeconds." }),
  staleAt: nullable(Timestamp("From when on it is stale unless it is reported again; null once it has ended.")),
  staleAfterSeconds: nullable(StaleAfterSeconds, { description: "The job's own; null takes jobs.staleAfterSeconds." }),
  currentStep: nullable(StepSummary, { description: "Of the steps still running the one most recently reported." }),
};

export const JobFields = Object.keys(job) as (keyof typeof job)[];

export const JobView = Type.Object(job, { ...closed, title: "Job" });
export const JobRow = Type.Partial(JobView, { ...closed, title: "JobRow" });
export const JobRead = Type.Object(
  { ...job, step: Type.Optional(nullable(SingleStep)), steps: Type.Optional(Type.Array(StepView)) },
  { ...closed, title: "JobWithSteps" },
);

export const Ok = Type.Object({ ok: Type.Literal(true) }, closed);

export const nextCursor = nullable(Type.String(), {
  description: "Send as ?cursor= for the next page; null on the last.",
});

const cursor = (pattern: string) =>
  Type.Optional(Type.String({ pattern, description: "The nextCursor of the page before." }));

export const paging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: "Most rows of a page." })),
  cursor: cursor(CURSOR_PATTERN),
};

/** Paging of lists whose cursors contain an id. */
export const idPaging = { limit: paging.limit, cursor: cursor(ID_CURSOR_PATTERN) };
