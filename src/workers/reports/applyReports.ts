import type { MappedReport } from "../../hooks/mappings/mappedJob.ts";
import { reportOrCreate, reportStep, type StepReport } from "../../models/jobs/reports/reportStep.ts";
import type { Stores } from "../../models/stores.ts";

/** The orders of the reports of one try, so that one that comes late does not undo an end, and a failure stays. */
const ORDER = { running: 0, completed: 1, failed: 2 } as const;
const ORDERS = 3;
/** Maximum reports that are applied at the same time. Those of one job share writes. */
const CONCURRENCY = 50;

/**
 * Applies the reports of a mapping to their job: the first one, which may create it, and then the others. Safe to repeat.
 * @param traceparent of the request, for a job that it creates
 * @throws AppError too_many_steps, body_too_large, unavailable
 */
export async function applyReports(
  stores: Stores,
  reports: readonly MappedReport[],
  traceparent?: string,
): Promise<void> {
  const apply = (report: MappedReport) => (report.step ? applyToStep : applyToJob)(stores, report, traceparent);
  for (let i = 0; i < reports.length; i += i === 0 ? 1 : CONCURRENCY) {
    await Promise.all(reports.slice(i, i === 0 ? 1 : i + CONCURRENCY).map(apply));
  }
}

async function applyToJob({ jobs }: Stores, report: MappedReport, traceparent?: string): Promise<void> {
  const { jobId, attempt, name, status, progress, message, output, links } = report;
  await jobs.put(jobId, {
    ...given({ name, status, progress, message, output, links }),
    order: attempt * ORDERS + ORDER[status ?? "running"],
    isQuiet: true,
    traceparent,
  });
}

async function applyToStep(stores: Stores, report: MappedReport, traceparent?: string): Promise<void> {
  const { jobId, step, status, progress, message, output, name, links } = report;
  if (!step) return;
  const { key, name: stepName, from, to, failJob } = step;
  const change: StepReport = {
    ...given({ status, progress, message, output, links }),
    stepName,
    failJob,
    ...(from !== undefined && to !== undefined && { jobProgressStart: from, jobProgressEnd: to }),
    order: ORDER[status ?? "running"],
  };
  await reportOrCreate(
    () => reportStep(stores, jobId, key, change),
    () => stores.jobs.put(jobId, { ...given({ name }), isQuiet: true, traceparent }),
  );
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], null> };

/** Returns the fields that are not null. */
const given = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Given<T>;
