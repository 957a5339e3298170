import Type from "typebox";
import { checkLinks } from "../../../models/jobs/link.ts";
import { textLines } from "../../../models/jobs/log/logLine.ts";
import { reportStep } from "../../../models/jobs/reports/reportStep.ts";
import { invalidField } from "../../../shared/errors.ts";
import * as s from "../../../wire/blocks.ts";
import { GivenLinks } from "../../../wire/link.ts";
import { BareStepReceipt, StepReceipt } from "../../../wire/step.ts";
import * as examples from "../../examples/jobs.ts";
import { route } from "../../routing/route.ts";
import { MAX_LOG_BYTES } from "./stepLog.ts";

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
    links: GivenLinks,
    log: Type.Optional(
      Type.String({
        maxLength: MAX_LOG_BYTES,
        description: "Lines for the log of the step, as `POST …/log` takes them: at most 256 KiB.",
      }),
    ),
    ...s.readOnly("stepId", "jobId", "stepKey", "createdAt", "updatedAt", "startedAt", "durationMs", "attempts"),
    ...s.readOnly("lastReportAt", "stale", "cancelRequested", "failedAttempts"),
  },
  s.named("StepReport"),
);

export const putStep = route({
  method: "put",
  path: "/api/jobs/:jobId/steps/:stepKey",
  operationId: "reportStep",
  scopes: ["jobs:report"],
  tag: "steps",
  summary: "Report a step",
  description:
    "Creates the step with its first report (201) and updates it with later ones (200). Report when a step starts, at about every 5 points of progress, and when it completes or fails.\n\nWith `progress`, `jobProgressStart` and `jobProgressEnd`, the progress of the job becomes start + progress / 100 × (end − start). It never decreases. A report that brings the job to 100 must include `output`, which becomes the output of the job, and completes the job.\n\nThe call is idempotent by stepKey: after a network error, 429 or 503, send the same report again.\n\nOnce cancellation of the job was requested, every response has `cancelRequested: true`.",
  example: examples.reportStep,
  schemas: { params: Type.Object({ jobId: s.JobId, stepKey: s.StepKey }), body: ReportBody },
  answers: { 200: StepReceipt, 201: StepReceipt },
  receipt: BareStepReceipt,
  authContext: "api",
  errors: ["job_not_found", "output_required", "too_many_steps"],
  async handler({ params, body, authContext }, { stores, metrics, clock }) {
    const {
      stepName,
      status,
      progress,
      jobProgressStart,
      jobProgressEnd,
      message,
      output,
      failJob,
      links,
      log: text = "",
    } = body;
    checkRange(jobProgressStart, jobProgressEnd);
    const range = { jobProgressStart, jobProgressEnd };
    // null equals absence, because clients may send a step back as they read it
    const content = { message: message ?? undefined, output: output ?? undefined, links: links ?? undefined };
    if (Buffer.byteLength(text) > MAX_LOG_BYTES) throw invalidField("log", "must be at most 256 KiB in UTF-8");
    const log = text === "" ? undefined : textLines(text, clock.now(), authContext.hideToken);
    checkLinks(links);
    const report = { stepName, status, progress, failJob, log, ...range, ...content };
    const { created, step, ended } = await reportStep(stores, params.jobId, params.stepKey, report);
    metrics.reports.inc({ status: step.status });
    if (ended) metrics.jobs.inc({ outcome: ended });
    return { status: created ? 201 : 200, body: step };
  },
});

function checkRange(start: number | undefined, end: number | undefined): void {
  if (start === undefined || end === undefined || start <= end) return;
  throw invalidField("jobProgressEnd", "must not be less than jobProgressStart");
}
