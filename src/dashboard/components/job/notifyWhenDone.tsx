import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { JobSummary } from "../../../client/client.ts";
import { shownStatus, titleOf } from "../../data/job/jobText.ts";
import { ActButton } from "../buttons.tsx";
import { showToast } from "../frame/toasts.tsx";

/** The job of whose end the browser notifies, while its page is open. */
const notified = signal<string | null>(null);

export const isNotified = (jobId: string): boolean => notified.value === jobId;

/** Browsers offer notifications only to pages from https or localhost. */
const canNotify = (): boolean => "Notification" in globalThis && Notification.permission !== "denied";

/** The button of a running job that switches the browser's notification of its end on and off. */
export function NotifyWhenDone({ jobId }: { jobId: string }) {
  if (!canNotify()) return null;
  const isOn = isNotified(jobId);
  const toggle = async () => {
    if (isOn) notified.value = null;
    else if ((await Notification.requestPermission()) === "granted") notified.value = jobId;
    else showToast("The browser does not allow notifications of this page.", { isError: true });
  };
  return <ActButton icon={isOn ? "completed" : "bell"} label="Notify when done" aria-pressed={isOn} act={toggle} />;
}

/** Shows the notification when the job ends, if it was asked for. It ends with the page of the job. */
export function useNotification(job: JobSummary | null): void {
  const last = useRef(job);
  useEffect(() => {
    const hasEnded = job && job.status !== "running" && last.current?.status === "running";
    last.current = job;
    if (!hasEnded || !isNotified(job.jobId)) return;
    notified.value = null;
    try {
      new Notification(`${titleOf(job)}: ${shownStatus(job)}`, { body: job.message ?? "", tag: job.jobId });
    } catch {
      // Browsers on phones show notifications of service workers only; the title of the tab shows the end.
    }
  }, [job]);
  useEffect(
    () => () => {
      notified.value = null;
    },
    [job?.jobId],
  );
}
