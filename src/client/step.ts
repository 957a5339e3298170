import type { ClientContext } from "./clientContext.ts";
import { pathSegment } from "./connection.ts";
import { Reporter } from "./reporter.ts";
import { MAX_LOG_CHARS, type Report } from "./reportQueue.ts";

/**
 * The identity of a step, as plain JSON, which an orchestrator passes to the code that does the work. It stays the same
 * after a retry or a recovery, so that every report updates the same record.
 */
export interface Assignment {
  readonly jobId: string;
  readonly stepKey: string;
  readonly stepName: string;
  /** The share of the job's progress that the step covers, 0–100. */
  readonly jobProgressStart?: number | undefined;
  readonly jobProgressEnd?: number | undefined;
}

/** Reports on one step. Keep one instance for each step: it uses earlier reports to leave out redundant requests. */
export class StepReporter extends Reporter {
  readonly #assignment: Assignment;

  /**
   * @param group the steps that share a part of the job's progress, if the step is one of them
   * @throws SignalboxError for a jobId or stepKey that cannot be part of a URL
   */
  constructor(assignment: Assignment, context: ClientContext, group?: StepGroup) {
    const jobPath = `/api/jobs${pathSegment(assignment.jobId)}`;
    const path = `${jobPath}/steps${pathSegment(assignment.stepKey)}`;
    const { stepKey, stepName, jobProgressStart, jobProgressEnd } = assignment;
    const toBody = (report: Report): object => {
      const { status, progress } = report;
      if (group) return { stepName, ...rangeInGroup(group, stepKey, report), ...report };
      // The range is left out of a report that would bring the job to 100 before the step is completed.
      const isEarly = status !== "completed" && endsJob(assignment, progress);
      return { stepName, ...(progress !== undefined && !isEarly && { jobProgressStart, jobProgressEnd }), ...report };
    };
    super(path, context, endsJob(assignment, 100), jobPath, toBody);
    this.#assignment = assignment;
  }

  /** Adds lines to the log of the step: at most one request a second, and not after the end of the step. */
  log(text: string): void {
    this.reports.add({ log: (text && `${text}\n`.replace(/\n\n$/, "\n").slice(-MAX_LOG_CHARS)) || undefined });
  }

  /** Returns the assignment, for `client.step()` in another process. */
  toJSON(): Assignment {
    return this.#assignment;
  }
}

/** Steps that run at the same time, with the part of the job's progress that they share, and the progress of each. */
export interface StepGroup {
  readonly from: number;
  readonly to: number;
  readonly points: Map<string, number>;
}

/** Returns a range that brings the job to the mean of the group, whatever the progress of the step is. */
function rangeInGroup({ from, to, points }: StepGroup, stepKey: string, { status, progress }: Report): object {
  if (progress === undefined) return {};
  points.set(stepKey, progress);
  const mean = [...points.values()].reduce((sum, one) => sum + one, 0) / points.size;
  const reached = Math.round((from + ((to - from) * mean) / 100) * 1e9) / 1e9;
  return reached >= 100 && status !== "completed" ? {} : { jobProgressStart: reached, jobProgressEnd: reached };
}

/** Whether the step's progress brings the job to 100, calculated as the service does; false without a range. */
function endsJob(
  { jobProgressStart: start = Number.NaN, jobProgressEnd: end = Number.NaN }: Assignment,
  progress = 0,
): boolean {
  return start + (progress / 100) * (end - start) >= 100 - 5e-10;
}
