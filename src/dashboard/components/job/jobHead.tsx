import type { Job } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import type { JobSnapshot } from "../../data/job/jobRecord.ts";
import { isStale, shownStatus, stepsText, titleOf } from "../../data/job/jobText.ts";
import { endOf } from "../../data/job/timeline.ts";
import { shownText } from "../../text.ts";
import { clockTime, duration } from "../../time.ts";
import { RecordHead } from "../frame/pageHead.tsx";
import { Icon } from "../icon.tsx";
import { ProgressBar } from "../values/progress.tsx";
import { RichText } from "../values/richText.tsx";
import { StatusMark } from "../values/status.tsx";
import { CancelNote } from "./cancelJob.tsx";
import { FailurePanel } from "./failures.tsx";
import { JobActions } from "./jobActions.tsx";
import { Links } from "./links.tsx";
import { MetadataChips } from "./metadataChips.tsx";

/** Number of chips of metadata. */
const MAX_CHIPS = 4;

interface JobHeadProps extends JobSnapshot {
  readonly job: Job;
  readonly hrefOf: (stepKey: string) => string;
}

/** The title of a job with its actions, its state on one line, and its latest message or its error. */
export function JobHead({ job, isRow, isDeleted, steps, messages, hrefOf }: JobHeadProps) {
  const { jobId, message } = job;
  const title = titleOf(job);
  const status = shownStatus(job);
  const stale = isStale(job, now.value);
  const [done, failed] = stepsText(job.stepCounts).split(", ");
  const took = duration(endOf(job, now.value) - Date.parse(job.createdAt));
  return (
    <>
      <RecordHead title={title} id={title === jobId ? null : jobId}>
        <JobActions job={job} isRow={isRow} isDeleted={isDeleted} />
      </RecordHead>
      <section class="card job-head" aria-label="Progress">
        <div class="headline line">
          <StatusMark status={status} stale={stale} />
          {done && (
            <span>
              {done}
              {failed && <span class="fault">, {failed}</span>}
            </span>
          )}
          <ProgressBar value={job.progress} status={status} stale={stale} label={`Progress of ${title}`} />
          <span>
            {took}
            {job.usual && <span class="muted">, usually {duration(job.usual.p50Ms)}</span>}
          </span>
          <MetadataChips metadata={job.metadata} max={MAX_CHIPS} query={new URLSearchParams()} />
        </div>
        {status === "failed" ? (
          <FailurePanel message={message} failedSteps={steps.filter(isFailed)} hrefOf={hrefOf} />
        ) : (
          (message !== null || job.status === "running") && (
            <div class="said large" aria-live="polite">
              <RichText text={message ?? "No message yet"} isClamped />
            </div>
          )
        )}
        <Links links={job.links} />
        {messages.length > 1 && <EarlierMessages messages={messages.slice(1)} />}
        <CancelNote job={job} />
        {stale && !job.cancel && <StaleNote job={job} />}
      </section>
    </>
  );
}

const isFailed = ({ status }: JobSnapshot["steps"][number]): boolean => status === "failed";

function EarlierMessages({ messages }: { messages: JobSnapshot["messages"] }) {
  const present = now.value;
  return (
    <details class="earlier">
      <summary>Earlier messages ({messages.length})</summary>
      <ol class="stack" tabIndex={0} aria-label="Earlier messages, newest first">
        {messages.map(({ text, at }) => (
          <li key={`${at} ${text}`}>
            <time dateTime={at}>{clockTime(at, present)}</time> <bdi title={text}>{shownText(text)}</bdi>
          </li>
        ))}
      </ol>
    </details>
  );
}

function StaleNote({ job: { lastReportAt, createdAt } }: { job: Job }) {
  const since = Date.parse(lastReportAt ?? createdAt);
  return (
    <p class="note silent line">
      <Icon name="warn" /> No report for {duration(now.value - since)}. Check that the code that does the work is still
      running.
    </p>
  );
}
