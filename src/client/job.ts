import type { CallOptions } from "./api.ts";
import { withRetry } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { segment } from "./connection.ts";
import type { Job, JobFields } from "./records.ts";
import { Reporter } from "./reporter.ts";
import { StepReporter } from "./step.ts";

export interface StepPlace {
  /** For people. */
  readonly name: string;
  /** The share of the job's progress that the step covers, 0–100. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/**
 * One job: makes it and its steps, and reports on it where it has none. Steps bring the job forward and complete it by
 * themselves; complete and fail are for a job without steps, and for the orchestrator's own word.
 */
export class JobReporter extends Reporter {
  readonly jobId: string;
  readonly #path: string;

  /** @throws SignalboxError for a jobId that no URL can carry */
  constructor(jobId: string, context: ClientContext) {
    const path = `/api/jobs${segment(jobId)}`;
    super(path, context, true);
    this.jobId = jobId;
    this.#path = path;
  }

  /** Makes the job, or changes the fields given. Tries for as long as the service is away, or until the signal fires. */
  create(fields: JobFields = {}, { signal }: CallOptions = {}): Promise<Job> {
    return withRetry(this.context, this.context.retryForMs, "PUT", this.#path, { body: fields, signal });
  }

  /** @throws SignalboxError for a stepKey that no URL can carry */
  step(stepKey: string, { name, from, to }: StepPlace): StepReporter {
    const assignment = { jobId: this.jobId, stepKey, stepName: name, jobProgressStart: from, jobProgressEnd: to };
    return new StepReporter(assignment, this.context);
  }
}
