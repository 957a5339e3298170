import type { MappingJob } from "./job.ts";
import type { WhenValue } from "./match.ts";

/** The keys of a mapping that reports jobs, as a preset fills them in. */
export interface JobPreset {
  /** How the sender authenticates, without its secret; undefined for the hook token. */
  readonly auth?: { readonly type: string; readonly header?: string };
  readonly when: Readonly<Record<string, WhenValue>>;
  readonly job: MappingJob;
  /**
   * The path, in an item of `step.forEach`, of a number that grows when the sender tries a part of the job again. The events with
   * the greatest one are the newest. Missing if another try is another job.
   */
  readonly attempt?: string;
  readonly maxBodyBytes: number;
}

const MIB = 1024 * 1024;

/**
 * Runs of workflows with their jobs as steps. A run that is started again is another attempt, and another job.
 * Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads#workflow_run
 */
const githubActions: JobPreset = {
  auth: { type: "github" },
  when: { "headers.x-github-event": ["workflow_run", "workflow_job"] },
  job: {
    id: "{{repository.full_name}}/{{workflow_run.id}}{{workflow_job.run_id}}/{{workflow_run.run_attempt}}{{workflow_job.run_attempt}}",
    name: "{{workflow_run.name}}{{workflow_job.workflow_name}}",
    message: "{{workflow_run.display_title}}",
    step: { key: "{{workflow_job.id}}", name: "{{workflow_job.name}}" },
    links: [{ title: "GitHub", url: "{{workflow_run.html_url}}{{workflow_job.html_url}}" }],
    status: {
      path: [
        "payload.workflow_job.conclusion",
        "payload.workflow_job.status",
        "payload.workflow_run.conclusion",
        "payload.workflow_run.status",
      ],
      running: ["requested", "queued", "waiting", "pending", "in_progress", "action_required"],
      completed: ["success", "neutral", "skipped"],
      failed: ["failure", "cancelled", "timed_out", "startup_failure", "stale"],
    },
  },
  maxBodyBytes: MIB,
};

/**
 * Pipelines with their jobs as steps, from the events of pipelines, and of jobs if they are sent too. A job that is retried has
 * another id, and takes the place of the former one in the events of its pipeline, which keeps its id.
 * Source: https://docs.gitlab.com/user/project/integrations/webhook_events/#pipeline-events
 */
const gitlabPipeline: JobPreset = {
  auth: { type: "token", header: "X-Gitlab-Token" },
  when: { "payload.object_kind": ["pipeline", "build"] },
  job: {
    id: "{{project.path_with_namespace}}/{{object_attributes.id}}{{pipeline_id}}",
    name: "{{project.name}}",
    message: "{{commit.title}}",
    step: {
      key: "{{item.id}}{{build_id}}",
      name: "{{item.stage}}{{build_stage}}: {{item.name}}{{build_name}}",
      forEach: "payload.builds",
    },
    links: [
      { title: "Job", url: "{{project.web_url}}/-/jobs/{{item.id}}{{build_id}}" },
      { title: "Pipeline", url: "{{project.web_url}}/-/pipelines/{{object_attributes.id}}{{pipeline_id}}" },
    ],
    status: {
      path: ["item.status", "payload.build_status", "payload.object_attributes.status"],
      running: [
        ...["created", "waiting_for_resource", "waiting_for_callback", "preparing", "pending", "running", "manual"],
        ...["scheduled", "canceling"],
      ],
      completed: ["success", "skipped"],
      failed: ["failed", "canceled"],
    },
  },
  attempt: "item.id",
  maxBodyBytes: MIB,
};

/**
 * Events about a subject, which is the job. The last word of the type is the status, such as `started` in
 * `com.example.backup.started`.
 * Source: https://github.com/cloudevents/spec/blob/main/cloudevents/bindings/http-protocol-binding.md
 */
const cloudEvents: JobPreset = {
  when: {},
  job: {
    id: "{{payload.subject}}",
    name: "{{payload.subject}}",
    message: "{{payload.data.message}}",
    progress: "{{payload.data.progress}}",
    status: {
      path: "payload.status",
      running: ["created", "queued", "scheduled", "start", "started", "running", "progress", "updated", "resumed"],
      completed: ["complete", "completed", "done", "finished", "passed", "succeeded", "success", "successful"],
      failed: ["aborted", "canceled", "cancelled", "error", "errored", "fail", "failed", "failure", "timeout"],
    },
    output: "payload.data",
  },
  maxBodyBytes: MIB,
};

/** The presets of mappings that report jobs. */
export const JOB_PRESETS = {
  "github-actions": githubActions,
  "gitlab-pipeline": gitlabPipeline,
  cloudevents: cloudEvents,
} as const satisfies Readonly<Record<string, JobPreset>>;
