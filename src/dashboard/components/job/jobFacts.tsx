import type { Job } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { isStale, shownStatus } from "../../data/job/jobRows.ts";
import { type ProgressPoint, roundEstimate, timeLeft } from "../../data/job/timeLeft.ts";
import { endOf } from "../../data/job/timeline.ts";
import { duration } from "../../time.ts";
import { Facts } from "../values/facts.tsx";
import { When } from "../values/when.tsx";

/** The times of a job. A running one has an estimate while it progresses steadily. */
export function JobFacts({ job, points }: { job: Job; points: readonly ProgressPoint[] }) {
  const { status, createdAt, lastReportAt, staleAfterSeconds, cancel } = job;
  const present = now.value;
  const isWorking = shownStatus(job) === "running" && !isStale(job, present) && !cancel;
  const left = isWorking ? timeLeft(points, present) : null;
  return (
    <Facts
      facts={[
        ["Created", <When time={createdAt} />],
        ["Last report", lastReportAt ? <When time={lastReportAt} /> : "none yet"],
        [status === "running" ? "Running for" : "Duration", duration(endOf(job, present) - Date.parse(createdAt))],
        ["Time left", left !== null && `about ${duration(roundEstimate(left))}`],
        ["Cancel requested", cancel && <When time={cancel.requestedAt} />],
        ["Stale after", staleAfterSeconds && duration(staleAfterSeconds * 1_000)],
      ]}
    />
  );
}
