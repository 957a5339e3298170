import type { Config } from "../../config/config.ts";
import { beginsWith, nameKey } from "../db/nameSearch.ts";
import type { JobDoc } from "../jobs/job.ts";
import { RUN_TIMES, runningMs } from "../jobs/runTime.ts";
import type { NotificationStores } from "./notificationStores.ts";
import { readExpectations } from "./readRules.ts";

/** How an expectation is met, for metrics. */
export interface ExpectedJob {
  readonly id: string;
  readonly name: string;
  /** Whether no job is missing. */
  readonly isUp: boolean;
  /** When the newest job that completed did so, and how long it took; null without one. */
  readonly lastSuccess: { readonly at: Date; readonly durationMs: number } | null;
}

/** Maximum time of the search for a name's newest job, in milliseconds. */
const MAX_TIME_MS = 2_000;

type Completed = Pick<JobDoc, "createdAt" | "endedAt" | "startedAt" | "waitingSince" | "waitedMs">;

/** Reads how the expectations of the configuration are met. @throws AppError unavailable; the driver's error after two seconds */
export async function readExpectedJobs(
  stores: Pick<NotificationStores, "expectations" | "jobs">,
  expected: Config["expect"],
): Promise<ExpectedJob[]> {
  const states = await readExpectations(stores, expected);
  return Promise.all(
    states.map(async ({ expectationId: id, name, missedAt }) => {
      const [job] = await stores.jobs.collection.find<Completed>(
        { nameKey: beginsWith(nameKey(name)), status: "completed" },
        {
          projection: RUN_TIMES,
          sort: { createdAt: -1 },
          limit: 1,
          hint: { nameKey: 1, createdAt: -1, _id: -1 },
          maxTimeMS: MAX_TIME_MS,
        },
      );
      const at = job?.endedAt;
      return { id, name, isUp: missedAt === null, lastSuccess: at ? { at, durationMs: runningMs(job, at) } : null };
    }),
  );
}
