import type { CallOptions } from "./api.ts";
import { withRetry } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { pathSegment } from "./connection.ts";
import { withOwnSession } from "./environment.ts";
import type { Answer, Question } from "./gate.ts";
import type { Job, JobFields } from "./records/jobs.ts";
import { Reporter } from "./reporter.ts";
import { StepReporter } from "./step.ts";

export interface StepPlace {
  /** The title that people see. */
  readonly name: string;
  /** The share of the job's progress that the step covers, 0–100. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A step among others that run at the same time. */
export interface ParallelStep {
  readonly key: string;
  readonly name: string;
}

/**
 * Creates a job and its steps, and reports on a job without steps. Steps advance and complete their job by themselves;
 * complete and fail are for a job without steps, or to override its steps.
 */
export class JobReporter extends Reporter {
  declare readonly jobId: string;

  /** @throws SignalboxError for a jobId that cannot be part of a URL */
  constructor(jobId: string, context: ClientContext) {
    super(`/api/jobs${pathSegment(jobId)}`, context, true);
    this.jobId = jobId;
  }

  /**
   * Creates the job, or updates the given fields. Retries while the service is unavailable, until the signal is
   * aborted.
   */
  create(fields: JobFields = {}, { signal }: CallOptions = {}): Promise<Job> {
    return withRetry(this.context, this.context.retryForMs, "PUT", this.jobPath, {
      body: withOwnSession(fields),
      signal,
    });
  }

  /**
   * Asks a person, and returns the answer, however long that takes. A repeated call, also in another process, waits for the
   * same answer. The action of a withdrawn gate is `cancel`.
   * @throws CancelledError once cancellation of the job is requested; SignalboxError job_ended once it has ended otherwise, also
   *   for a question that the service rejects, and job_not_found; the signal's reason
   */
  async gate(key: string, question: Question): Promise<Answer> {
    const path = `${this.jobPath}/gates${pathSegment(key)}`;
    return (await import("./gate.ts")).ask(this.context, path, question);
  }

  /** @throws SignalboxError for a stepKey that cannot be part of a URL */
  step(stepKey: string, { name, from, to }: StepPlace): StepReporter {
    const assignment = { jobId: this.jobId, stepKey, stepName: name, jobProgressStart: from, jobProgressEnd: to };
    return new StepReporter(assignment, this.context);
  }

  /**
   * Returns steps that run at the same time and share a part of the job's progress, which becomes the mean of theirs: only the
   * last one to complete reaches the end. All of them must report through this client.
   */
  parallel(
    { from, to }: { readonly from: number; readonly to: number },
    steps: readonly ParallelStep[],
  ): StepReporter[] {
    const points = steps.map(() => 0);
    return steps.map(({ key, name }, i) => {
      const place = (progress: number) => {
        points[i] = progress;
        const mean = points.reduce((sum, one) => sum + one) / points.length;
        return Math.min(100, from + ((to - from) * mean) / 100); // 100.00000000000001 would be refused
      };
      return new StepReporter({ jobId: this.jobId, stepKey: key, stepName: name }, this.context, place);
    });
  }
}
