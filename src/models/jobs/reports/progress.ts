/** The numbers of a report: the step's own progress, and the range of the job's progress that the step covers, each 0–100. */
export interface ReportedProgress {
  readonly progress?: number | undefined;
  readonly jobProgressStart?: number | undefined;
  readonly jobProgressEnd?: number | undefined;
}

/**
 * Returns the job's progress after a report, 0–100, or undefined if one of the three numbers is missing. The result is rounded to
 * nine decimals, so that floating point never decides whether 100 is reached: 33.3 + 100/100 × 66.7 is 100.
 */
export function calculateJobProgress(report: ReportedProgress): number | undefined {
  const { progress, jobProgressStart: start, jobProgressEnd: end } = report;
  if (progress === undefined || start === undefined || end === undefined) return undefined;
  return Math.round((start + (progress / 100) * (end - start)) * 1e9) / 1e9;
}
