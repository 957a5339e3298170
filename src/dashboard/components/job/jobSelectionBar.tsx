import { useEffect, useState } from "preact/hooks";
import { explain } from "../../data/errors.ts";
import { clearSelection, forEachJob, type Outcome, selectedJobs, selectJob } from "../../data/job/jobSelection.ts";
import { service } from "../../data/service.ts";
import { isTyping } from "../../shortcuts.tsx";
import { count } from "../../time.ts";
import { ActButton } from "../buttons.tsx";
import { Confirm } from "../forms/confirm.tsx";
import { showToast } from "../frame/toasts.tsx";

interface Action {
  readonly verb: string;
  readonly title: (jobs: string) => string;
  readonly text: string;
  readonly action: string;
  readonly dismiss: string;
  readonly result: string;
  readonly goneResult: string;
  readonly request: (jobId: string) => Promise<unknown>;
}

const CANCEL: Action = {
  verb: "Cancel",
  title: (jobs) => `Cancel ${jobs}?`,
  text: "The code that does the work learns of it with its next report, and then ends the job. Jobs that have ended stay as they are.",
  action: "Cancel jobs",
  dismiss: "Keep running",
  result: "Cancellation requested for",
  goneResult: "had ended",
  request: (jobId) => service.jobs.cancel(jobId),
};

const DELETE: Action = {
  verb: "Delete",
  title: (jobs) => `Delete ${jobs}?`,
  text: "Their steps and outputs are deleted too. This cannot be undone.",
  action: "Delete jobs",
  dismiss: "Cancel",
  result: "Deleted",
  goneResult: "had been deleted",
  request: (jobId) => service.jobs.delete(jobId),
};

const jobsText = (n: number): string => `${count(n)} ${n === 1 ? "job" : "jobs"}`;

/** The bar with the actions for the selected jobs; missing while none is selected. The key x selects a row. */
export function JobSelectionBar({ onGone }: { onGone: (jobId: string) => void }) {
  const [asked, setAsked] = useState<Action | null>(null);
  const [isPending, setPending] = useState(false);
  useEffect(() => {
    addEventListener("keydown", toggleFocused);
    return () => {
      removeEventListener("keydown", toggleFocused);
      clearSelection();
    };
  }, []);
  const selected = [...selectedJobs.value];
  if (selected.length === 0) return null;
  const run = async (action: Action) => {
    setPending(true);
    const outcome = await forEachJob(selected, async (jobId) => {
      await action.request(jobId);
      if (action === DELETE) onGone(jobId);
    });
    const failed = new Set(outcome.failed.map(({ jobId }) => jobId));
    for (const jobId of selected) if (!failed.has(jobId)) selectJob(jobId, false);
    report(action, outcome);
    setPending(false);
  };
  return (
    <div class="selection popover line" role="region" aria-label="Selected jobs">
      <b role="status">{count(selected.length)} selected</b>
      <ActButton icon="cancel" label="Cancel" disabled={isPending} act={() => setAsked(CANCEL)} />
      <ActButton icon="trash" label="Delete" disabled={isPending} act={() => setAsked(DELETE)} />
      <button type="button" disabled={isPending} onClick={clearSelection}>
        Clear selection
      </button>
      {asked && (
        <Confirm
          title={asked.title(jobsText(selected.length))}
          text={asked.text}
          action={asked.action}
          dismiss={asked.dismiss}
          onYes={() => void run(asked)}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  );
}

/** Shows the results of the requests; jobs that failed stay selected. */
function report({ result, goneResult, verb }: Action, { done, gone, failed }: Outcome): void {
  const parts = [
    ...(done > 0 ? [`${result} ${jobsText(done)}`] : []),
    ...(gone > 0 ? [`${jobsText(gone)} ${goneResult}`] : []),
  ];
  if (parts.length > 0) showToast(parts.join("; "));
  const [first] = failed;
  if (!first) return;
  const [title, advice] = explain(first.error);
  showToast(`${verb} failed for ${jobsText(failed.length)}, which stay selected. ${title}: ${advice}`, {
    isError: true,
  });
}

/** Selects the row that has the focus, or removes it from the selection. */
function toggleFocused(event: KeyboardEvent): void {
  if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event)) return;
  const row = document.activeElement?.closest("[data-index]");
  row?.querySelector<HTMLInputElement>(".cell-select input")?.click();
}
