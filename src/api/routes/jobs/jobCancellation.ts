import Type from "typebox";
import { viewWrittenJob } from "../../../models/jobs/read/readJobs.ts";
import { cancelJob } from "../../../models/runs/cancel.ts";
import { agentHook } from "../../../shared/queue/definitions.ts";
import * as s from "../../../wire/blocks.ts";
import { ChangedJob, JobReceipt, Reason } from "../../../wire/job.ts";
import * as examples from "../../examples/jobs.ts";
import { route } from "../../routing/route.ts";

const cancel = route({
  method: "post",
  path: "/api/jobs/:jobId/cancel",
  operationId: "cancelJob",
  scopes: ["jobs:write"],
  tag: "jobs",
  summary: "Cancel a job",
  description:
    "Requests that a running job be cancelled (202). From then on the response to every report on the job has `cancelRequested: true`; a report that is in flight at the same time may still lack it. The code that does the work then ends the job as it sees fit: it reports a step with `status: failed` and `failJob: true`, or completes the job, which still counts. A failed job with a request is cancelled.\n\nWith `force: true`, the job fails at once with the message `Cancelled: REASON`. Use it when the code that does the work is gone.\n\nThe call is idempotent: the first request is kept, and a further one changes nothing of it. A job that has ended answers 409 `job_ended`. If the job shows a run (`trackAsJob`), the run is cancelled too.",
  example: examples.cancelJob,
  schemas: {
    params: Type.Object({ jobId: s.JobId }),
    body: Type.Object(
      {
        reason: Type.Optional(s.nullable(Reason)),
        force: Type.Optional(Type.Boolean({ description: "Whether the job fails at once." })),
      },
      s.named("JobCancellation"),
    ),
  },
  answers: { 202: ChangedJob },
  receipt: JobReceipt,
  errors: ["job_not_found", "job_ended"],
  audit: ({ params, body }) => (body.force ? { action: "job.cancel", target: params.jobId } : null),
  async handler({ params: { jobId }, body }, { stores, queues, metrics }) {
    const { job, ended, runToFinalize } = await cancelJob(stores, jobId, body);
    if (ended) metrics.jobs.inc({ outcome: "failed" });
    if (runToFinalize) await queues.add(agentHook, { runId: jobId }, { jobId: `${jobId}-cancelled` });
    return { status: 202, body: await viewWrittenJob(stores, job) };
  },
});

export const cancellationRoutes = [cancel];
