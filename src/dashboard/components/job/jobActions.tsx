import { useEffect, useRef, useState } from "preact/hooks";
import type { Job } from "../../../client/client.ts";
import { copyText, downloadText } from "../../copy.ts";
import { access, hasScope } from "../../data/access.ts";
import { titleOf } from "../../data/job/jobText.ts";
import { service } from "../../data/service.ts";
import { address, goBackTo, place } from "../../router.ts";
import { ActButton } from "../buttons.tsx";
import { Confirm } from "../forms/confirm.tsx";
import { showError, showToast } from "../frame/toasts.tsx";
import { Icon } from "../icon.tsx";
import { CancelJob } from "./cancelJob.tsx";
import { NotifyWhenDone } from "./notifyWhenDone.tsx";
import { CopyLink, ShareDialog } from "./shareJob.tsx";

interface JobActionsProps {
  readonly job: Job;
  /** Whether the job lacks its payloads, so that there is nothing to copy yet. */
  readonly isRow: boolean;
  readonly isDeleted: boolean;
}

/** The actions on a job: the link to it and its cancellation, and a menu with all others. */
export function JobActions({ job, isRow, isDeleted }: JobActionsProps) {
  const { jobId } = job;
  const [dialog, setDialog] = useState<"share" | "delete" | null>(null);
  const menu = useRef<HTMLDetailsElement>(null);
  useClosing(menu);
  const isRunning = !isDeleted && job.status === "running";
  const canWrite = hasScope(access.value, "jobs:write") && !isDeleted;
  const remove = () =>
    service.jobs.delete(jobId).then(() => {
      showToast(`${titleOf(job)} deleted`);
      if (place.value.id === jobId) goBackTo(address("/"));
    }, showError);
  const jobJson = () => JSON.stringify(job, null, 2);
  return (
    <div class="acts line">
      {!isDeleted && <CopyLink />}
      {canWrite && isRunning && <CancelJob job={job} />}
      <details class="menu" ref={menu}>
        <summary class="button icon-button" aria-label="More actions" title="More actions">
          <Icon name="more" />
        </summary>
        <div class="popover">
          {!isDeleted && <ActButton icon="out" label="Share" act={() => setDialog("share")} />}
          <ActButton icon="copy" label="Copy JSON" disabled={isRow} act={() => copyText(jobJson(), "Job")} />
          <ActButton
            icon="download"
            label="Download"
            disabled={isRow}
            act={() => downloadText(jobJson(), `${jobId}.json`, true)}
          />
          {isRunning && <NotifyWhenDone jobId={jobId} />}
          {canWrite && <ActButton icon="trash" label="Delete" act={() => setDialog("delete")} />}
        </div>
      </details>
      {dialog === "share" && <ShareDialog jobId={jobId} onClose={() => setDialog(null)} />}
      {dialog === "delete" && (
        <Confirm
          title="Delete this job?"
          text={`This permanently deletes ${titleOf(job)} and all its steps. Later reports for it are rejected with 404.`}
          action="Delete"
          onYes={remove}
          onClose={() => setDialog(null)}
        />
      )}
    </div>
  );
}

/** Closes a menu after a choice, and when the focus leaves it or something beside it is pressed. Escape closes it too. */
function useClosing(menu: { readonly current: HTMLDetailsElement | null }): void {
  useEffect(() => {
    const close = ({ type, target }: Event) => {
      const { current } = menu;
      if (!current?.open || !(target instanceof Element)) return;
      const isChoice = type === "click" && current.contains(target) && target.closest("button") !== null;
      if (!isChoice && current.contains(target)) return;
      current.open = false;
      if (isChoice) current.querySelector("summary")?.focus();
    };
    const types = ["click", "focusin", "pointerdown"];
    for (const type of types) addEventListener(type, close);
    return () => {
      for (const type of types) removeEventListener(type, close);
    };
  }, []);
}
