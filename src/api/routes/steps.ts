import Type from "typebox";
import { listSteps, readStep } from "../../models/jobs/readSteps.ts";
import { reportStep } from "../../models/jobs/reportStep.ts";
import { AppError } from "../../shared/errors.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const params = Type.Object({ jobId: s.JobId, stepKey: s.StepKey });
const closed = { additionalProperties: false } as const;

const ReportBody = Type.Object(
  {
    stepName: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_024, description: "Needed by the first report." }),
    ),
    status: Type.Optional(s.Status),
    progress: Type.Optional(s.Progress("The step's own progress.")),
    jobProgressStart: Type.Optional(s.Progress("Where in the job's progress this step begins. Never stored.")),
    jobProgressEnd: Type.Optional(s.Progress("Where in the job's progress this step ends. Never stored.")),
    message: Type.Optional(s.nullable(s.Text, { description: "Becomes the job's message too." })),
    output: Type.Optional(s.nullable(s.FreeObject("Required by the report that brings the job to 100."))),
    failJob: Type.Optional(Type.Boolean({ description: "With status failed: the job has failed too. Never stored." })),
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
    ),
  },
  { ...closed, title: "StepReport" },
);

const putStep = route({
  method: "put",
  path: "/api/jobs/:jobId/steps/:stepKey",
  operationId: "reportStep",
  tag: "steps",
  summary: "Create a step, or report on it",
  description:
    "Idempotent by stepKey: the same report may be sent again. With progress, jobProgressStart and jobProgressEnd the job moves to start + progress / 100 × (end − start), never back. At 100 the report must carry output, and completes the job.",
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
    description: "Only these fields of each step, separated by commas; stepKey is always there.",
  }),
);

const getSteps = route({
  method: "get",
  path: "/api/jobs/:jobId/steps",
  operationId: "listSteps",
  tag: "steps",
  summary: "The steps of a job, oldest first, with their outputs or those fields that are asked for",
  description: "A page may be shorter than `limit` when its rows are large; only a null nextCursor ends the list.",
  schemas: { params: Type.Object({ jobId: s.JobId }), query: Type.Object({ fields, ...s.paging }, closed) },
  answers: { 200: Type.Object({ steps: Type.Array(s.StepRow), nextCursor: s.nextCursor }, closed) },
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
  tag: "steps",
  summary: "One step with its output and, once completed, its duration",
  schemas: { params },
  answers: { 200: s.SingleStep },
  errors: ["job_not_found", "step_not_found"],
  async handler({ params }, { stores }) {
    return { status: 200, body: await readStep(stores, params.jobId, params.stepKey) };
  },
});

export const stepRoutes = [putStep, getSteps, getStep];
