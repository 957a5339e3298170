import { useState } from "preact/hooks";
import type { JobSummary } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { cancelNote } from "../../data/job/jobRows.ts";
import { service } from "../../data/service.ts";
import { visible } from "../../text.ts";
import { ActButton } from "../buttons.tsx";
import { Confirm } from "../forms/confirm.tsx";
import { showError, showToast } from "../frame/toasts.tsx";
import { Icon } from "../icon.tsx";

/** The service's limit. */
const MAX_REASON_CHARS = 512;

const REQUEST = {
  title: "Cancel this job?",
  text: "The code that does the work learns of it with its next report, and then ends the job. If it completes the job instead, the job is completed.",
  action: "Cancel job",
  dismiss: "Keep running",
};
const FORCE = {
  title: "Force the cancellation?",
  text: "The job fails at once. Do this only if the code that does the work is gone: this does not stop it.",
  action: "Force cancel",
  dismiss: "Keep waiting",
};

/** The button that requests that a running job be cancelled; after a request, the one that forces it. */
export function CancelJob({ job: { jobId, cancel } }: { job: JobSummary }) {
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const force = cancel !== null;
  const question = force ? FORCE : REQUEST;
  const send = () => {
    const given = reason.trim();
    service.jobs.cancel(jobId, { ...(given && { reason: given }), ...(force && { force }) }).then(() => {
      showToast(force ? "Job cancelled" : "Cancellation requested");
      setReason("");
    }, showError);
  };
  return (
    <>
      <ActButton icon="cancel" label={question.action} act={() => setAsking(true)} />
      {isAsking && (
        <Confirm key={question.title} {...question} onYes={send} onClose={() => setAsking(false)}>
          {!force && (
            <label class="field whole">
              Reason (optional)
              <input
                type="text"
                maxLength={MAX_REASON_CHARS}
                value={reason}
                onInput={({ currentTarget: { value } }) => setReason(value)}
              />
            </label>
          )}
        </Confirm>
      )}
    </>
  );
}

/** Says that cancellation was requested, and since when the worker is silent. */
export function CancelNote({ job }: { job: JobSummary }) {
  const note = cancelNote(job, now.value);
  if (!note) return null;
  return (
    <p class="note silent line">
      <Icon name="cancel" />
      <span>
        {note}
        {job.cancel?.reason && (
          <>
            . Reason: <bdi>{visible(job.cancel.reason)}</bdi>
          </>
        )}
      </span>
    </p>
  );
}
