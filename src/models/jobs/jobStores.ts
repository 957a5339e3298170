import type { Batcher } from "../../shared/batcher.ts";
import type { Jobs } from "./jobs.ts";
import type { Logs } from "./log/logs.ts";
import type { Payloads } from "./payloads/payloads.ts";
import type { Report } from "./reports/reportUpdate.ts";
import type { ReportOutcome } from "./reports/writeReports.ts";

/** The collections of jobs with their queries. */
export interface JobStores {
  readonly jobs: Jobs;
  readonly payloads: Payloads;
  readonly logs: Logs;
  /** Applies reports on steps, concurrent ones in one batch. */
  readonly reports: Batcher<Report, ReportOutcome>;
}
