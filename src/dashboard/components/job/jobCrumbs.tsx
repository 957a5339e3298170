import { useMemo } from "preact/hooks";
import { neighbours } from "../../data/job/shownJobs.ts";
import { address } from "../../router.ts";
import { Icon } from "../icon.tsx";

/** The way back to the list of jobs, and to the jobs above and below in it. */
export function JobCrumbs({ jobId }: { jobId: string }) {
  const { above, below } = useMemo(() => neighbours(jobId), [jobId]);
  const sides = [
    ["back", "Previous job of the list", above],
    ["next", "Next job of the list", below],
  ] as const;
  return (
    <p class="crumbs job-crumbs">
      <a href={address("/")} data-up>
        <Icon name="back" /> Jobs
      </a>
      <span class="neighbours">
        {sides.map(
          ([icon, title, id]) =>
            id !== undefined && (
              <a key={icon} href={address("/jobs/:jobId", id)} data-beside aria-label={title} title={title}>
                <Icon name={icon} />
              </a>
            ),
        )}
      </span>
    </p>
  );
}
