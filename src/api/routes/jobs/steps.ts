import Type from "typebox";
import { listSteps, readStep } from "../../../models/jobs/read/readSteps.ts";
import { reportStep } from "../../../models/jobs/reports/reportStep.ts";
import { AppError } from "../../../shared/errors.ts";
import * as examples from "../../examples/jobs.ts";
import { route } from "../../route.ts";
import * as s from "../../schemas/common.ts";

const params = Type.Object({ jobId: s.JobId, stepKey: s.StepKey });
const closed = { additionalProperties: false } as const;

const ReportBody = Type.Object(
  {
    stepName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_024,
        description: "A name for people. Required when the report creates the step.",
      }),
    ),
    status: Type.Optional(s.Status),
    progress: Type.Optional(s.Progress("Progress of the step in percent.")),
    jobProgressStart: Type.Optional(
      s.Progress(
        "Progress of the job when this step starts. Send it with `progress` and `jobProgressEnd`. Not stored.",
      ),
    ),
    jobProgressEnd: Type.Optional(
      s.Progress(
        "Progress of the job when this step is complete. Send it with `progress` and `jobProgressStart`. Not stored.",
      ),
    ),
    message: Type.Optional(
      s.nullable(s.Text, { description: "The present work of the step. Also becomes the message of the job." }),
    ),
    output: Type.Optional(
      s.nullable(
        s.FreeObject("Result of the step: any JSON object. Required in the report that brings the job to 100."),
      ),
    ),
    failJob: Type.Optional(
      Type.Boolean({ description: "With `status: failed`, fails the whole job too. Not stored." }),
    ),
    ...s.readOnly(
      "stepId",
      "jobId",
      "stepKey",
      "createdAt",
      "updatedAt",
      "startedAt",
      "durationMs",
      "attempts",
      "lastReportAt",
      "stale",
      "cancelRequested",
      "failedAttempts",
    ),
  },
  s.named("StepReport"),
);

const putStep = route({
  method: "put",
  path: "/api/jobs/:jobId/steps/:stepKey",
  operationId: "reportStep",
  scopes: ["jobs:report"],
  tag: "steps",
  summary: "Report a step",
  description:
    "Creates the step with its first report (201) and updates it with later ones (200). Report when a step starts, at about every 5 points of progress, and when it completes or fails.\n\nWith `progress`, `jobProgressStart` and `jobProgressEnd`, the progress of the job becomes start + progress / 100 × (end − start). It never decreases. A report that brings the job to 100 must include `output`, which becomes the output of the job, and completes the job.\n\nThe call is idempotent by stepKey: after a network error, 429 or 503, send the same report again.\n\nOnce cancellation of the job was requested, every response has `cancelRequested: true`.",
  example: examples.reportStep,
  schemas: { params, body: ReportBody },
  answers: { 200: s.StepReceipt, 201: s.StepReceipt },
  errors: ["job_not_found", "output_required", "too_many_steps"],
  async handler({ params, body }, { stores, metrics }) {
    const { stepName, status, progress, jobProgressStart, jobProgressEnd, message, output, failJob } = body;
    checkRange(jobProgressStart, jobProgressEnd);
    const range = { jobProgressStart, jobProgressEnd };
    // null equals absence, because clients may send a step back as they read it
    const content = { message: message ?? undefined, output: output ?? undefined };
    const report = { stepName, status, progress, failJob, ...range, ...content };
    const { created, step, ended } = await reportStep(stores, params.jobId, params.stepKey, report);
    metrics.reports.inc({ status: step.status });
    if (ended) metrics.jobs.inc({ outcome: ended });
    return { status: created ? 201 : 200, body: step };
  },
});

function checkRange(start: number | undefined, end: number | undefined): void {
  if (start === undefined || end === undefined || start <= end) return;
  const detail = "must not be less than jobProgressStart";
  throw new AppError("invalid_body", {
    detail: `jobProgressEnd ${detail}.`,
    errors: [{ pointer: "/jobProgressEnd", detail }],
  });
}

const fields = Type.Optional(
  Type.Array(Type.Enum(s.StepFields), {
    minItems: 1,
    explode: false,
    description: "Fields to return for each step, separated by commas. `stepKey` is always returned.",
  }),
);

const getSteps = route({
  method: "get",
  path: "/api/jobs/:jobId/steps",
  operationId: "listSteps",
  scopes: ["jobs:read"],
  tag: "steps",
  summary: "List the steps of a job",
  description:
    "Returns the steps of a job, oldest first, with their outputs. Use `fields` to leave out what you do not need. A page can have fewer rows than `limit` when its rows are large; the list ends when `nextCursor` is null.",
  example: examples.listSteps,
  schemas: { params: Type.Object({ jobId: s.JobId }), query: Type.Object({ fields, ...s.paging }, closed) },
  answers: { 200: Type.Object({ steps: s.Rows(s.StepRow), nextCursor: s.nextCursor }, s.named("StepList")) },
  errors: ["job_not_found"],
  async handler({ params, query }, { stores }) {
    const { limit = 100, cursor, fields } = query;
    return { status: 200, body: await listSteps(stores, params.jobId, { limit, cursor, fields }) };
  },
});

const getStep = route({
  method: "get",
  path: "/api/jobs/:jobId/steps/:stepKey",
  operationId: "getStep",
  scopes: ["jobs:read"],
  tag: "steps",
  summary: "Get a step",
  description:
    "Returns one step with its output. After the step has completed, `durationMs` is the duration of its latest attempt.",
  example: examples.getStep,
  schemas: { params },
  answers: { 200: s.SingleStep },
  errors: ["job_not_found", "step_not_found"],
  async handler({ params }, { stores }) {
    return { status: 200, body: await readStep(stores, params.jobId, params.stepKey) };
  },
});

export const stepRoutes = [putStep, getSteps, getStep];
