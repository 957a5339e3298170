import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Job } from "../../../client/client.ts";
import { copyText, downloadText } from "../../copy.ts";
import { access, hasScope } from "../../data/access.ts";
import { titleOf } from "../../data/job/jobRows.ts";
import { service } from "../../data/service.ts";
import { address, goBackTo, place } from "../../router.ts";
import { Confirm } from "../forms/confirm.tsx";
import { showError, showToast } from "../frame/toasts.tsx";
import { Icon } from "../icon.tsx";
import { CancelJob } from "./cancelJob.tsx";
import { NotifyWhenDone } from "./notifyWhenDone.tsx";
import { ShareJob } from "./shareJob.tsx";

interface JobActionsProps {
  readonly job: Job;
  /** Whether the job lacks its payloads, so that there is nothing to copy yet. */
  readonly isRow: boolean;
  readonly isDeleted: boolean;
}

/** The actions on a job. A phone has those that change nothing in a menu. */
export function JobActions({ job, isRow, isDeleted }: JobActionsProps) {
  const { jobId } = job;
  const [isConfirming, setConfirming] = useState(false);
  const isRunning = !isDeleted && job.status === "running";
  const canWrite = hasScope(access.value, "jobs:write") && !isDeleted;
  const remove = () =>
    service.jobs.delete(jobId).then(() => {
      showToast(`${titleOf(job)} deleted`);
      if (place.value.id === jobId) goBackTo(address("/"));
    }, showError);
  const jobJson = () => JSON.stringify(job, null, 2);
  return (
    <div class="acts">
      <MoreActions>
        {!isDeleted && <ShareJob job={job} />}
        <button type="button" disabled={isRow} onClick={() => copyText(jobJson(), "Job")}>
          <Icon name="copy" /> Copy JSON
        </button>
        <button type="button" disabled={isRow} onClick={() => downloadText(jobJson(), `${jobId}.json`, true)}>
          <Icon name="download" /> Download
        </button>
        {isRunning && <NotifyWhenDone jobId={jobId} />}
      </MoreActions>
      {canWrite && isRunning && <CancelJob job={job} />}
      {canWrite && (
        <button type="button" class="danger" onClick={() => setConfirming(true)}>
          <Icon name="trash" /> Delete
        </button>
      )}
      {isConfirming && (
        <Confirm
          title="Delete this job?"
          text={`This permanently deletes ${titleOf(job)} and all its steps. Later reports for it are rejected with 404.`}
          action="Delete"
          onYes={remove}
          onClose={() => setConfirming(false)}
        />
      )}
    </div>
  );
}

const narrow = matchMedia("(max-width: 760px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", ({ matches }) => {
  isNarrow.value = matches;
});

/** Buttons beside each other, or in a menu in a narrow window, where they would fill rows. Escape closes the menu. */
function MoreActions({ children }: { children: ComponentChildren }) {
  const menu = useRef<HTMLDetailsElement>(null);
  if (!isNarrow.value) return <>{children}</>;
  return (
    <details
      class="more-actions"
      ref={menu}
      onFocusOut={({ relatedTarget }) => {
        const { current } = menu;
        if (current && relatedTarget instanceof Node && !current.contains(relatedTarget)) current.open = false;
      }}
    >
      <summary aria-label="More actions">
        <Icon name="more" />
      </summary>
      <div>{children}</div>
    </details>
  );
}
