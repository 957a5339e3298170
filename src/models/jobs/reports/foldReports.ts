import type { Report } from "./reportUpdate.ts";

/** Reports of one batch that one update applies. */
export interface FoldedReports {
  /** The last value of each field that the reports change, with the id of the last report and the `stepId` of the first. */
  report: Report;
  readonly members: Report[];
}

/**
 * Folds the reports of a batch that follow each other on one step, so that many workers that report on one step cost MongoDB
 * one update a batch. Reports of 40 %, 41 % and 42 % become one of 42 %. Only reports of progress, names, messages and links
 * are folded: what ends or restarts a step or a job, or has an output, is applied by itself.
 * @param reports in the order in which they arrived
 * @returns the updates in the same order: reports on other steps of the job are never overtaken
 */
export function foldReports(reports: readonly Report[]): FoldedReports[] {
  const folded: FoldedReports[] = [];
  const newest = new Map<string, FoldedReports>();
  for (const report of reports) {
    const last = newest.get(report.jobId);
    if (last && mayFold(last.report, report)) {
      last.report = fold(last.report, report);
      last.members.push(report);
      continue;
    }
    const one = { report, members: [report] };
    folded.push(one);
    newest.set(report.jobId, one);
  }
  return folded;
}

/** Returns whether one update can apply two reports. A report without a stepName needs a step that exists. */
function mayFold(first: Report, next: Report): boolean {
  const isSameStep = first.stepKey === next.stepKey;
  return isSameStep && isPlain(first) && isPlain(next) && (first.stepName !== undefined || next.stepName === undefined);
}

const isPlain = ({ status = "running", output, ends, order, at, countsSteps, payloads }: Report): boolean =>
  status === "running" &&
  [output, ends, order, at].every((field) => field === undefined) &&
  !countsSteps &&
  payloads.length === 0;

function fold(first: Report, next: Report): Report {
  const progress = [first.jobProgress, next.jobProgress].filter((one) => one !== undefined);
  return {
    ...first,
    reportId: next.reportId,
    stepName: next.stepName ?? first.stepName,
    status: next.status ?? first.status,
    progress: next.progress ?? first.progress,
    message: next.message ?? first.message,
    links: next.links ?? first.links,
    jobProgress: progress.length > 0 ? Math.max(...progress) : undefined,
  };
}
