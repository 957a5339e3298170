import type { Job } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { countOf, isStale, shownStatus } from "../../data/job/jobText.ts";
import { useReloadEvery } from "../../data/live/reloadEvery.ts";
import { service } from "../../data/service.ts";
import { useQuery } from "../../data/useQuery.ts";
import { address } from "../../router.ts";
import { shownText } from "../../text.ts";
import { StatusMark } from "../values/status.tsx";

/** Maximum children that the page lists. */
const MAX_CHILDREN = 100;
/** How often they are read again: the events of a job do not announce its children. */
const RELOAD_EVERY_MS = 5_000;

/** The parent of a job, and its children with their status: a tree of one level. */
export function ChildJobs({ job }: { readonly job: Job }) {
  const { jobId, parentJobId, children } = job;
  const { value, reload } = useQuery(
    (signal) => service.jobs.list({ parentJobId: jobId, limit: MAX_CHILDREN }, { signal }),
    jobId,
  );
  const listed = value?.jobs ?? [];
  const isRunning = [job, ...listed].some(({ status }) => status === "running");
  useReloadEvery(() => isRunning && reload(), RELOAD_EVERY_MS);
  if (listed.length === 0 && parentJobId === null) return null;
  const all = countOf(children);
  return (
    <section class="card" aria-label="Related jobs">
      {parentJobId !== null && (
        <p>
          Part of{" "}
          <a href={address("/jobs/:jobId", parentJobId)}>
            <bdi>{shownText(parentJobId)}</bdi>
          </a>
        </p>
      )}
      {listed.length > 0 && (
        <>
          <h2>Child jobs</h2>
          <ul class="stack">
            {listed.map((child) => (
              <li key={child.jobId} class="line">
                <StatusMark status={shownStatus(child)} stale={isStale(child, now.value)} />{" "}
                <a href={address("/jobs/:jobId", child.jobId)}>
                  <bdi>{shownText(child.name ?? child.jobId)}</bdi>
                </a>{" "}
                <span class="muted">{Math.floor(child.progress)} %</span>
              </li>
            ))}
          </ul>
          {all > MAX_CHILDREN && (
            <p class="muted">
              The newest {MAX_CHILDREN} of {all.toLocaleString("en")}.
            </p>
          )}
        </>
      )}
    </section>
  );
}
