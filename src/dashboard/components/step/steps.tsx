import { useState } from "preact/hooks";
import type { Gate, Job, JobSummary, StepSummary } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { access, hasScope } from "../../data/access.ts";
import { reportStepCommand } from "../../data/commands.ts";
import { countOf } from "../../data/job/jobText.ts";
import { type Fold, foldOf, type OrderedSteps } from "../../data/job/stepOrder.ts";
import { barOf, endOf, isStepStale, shownStepStatus } from "../../data/job/timeline.ts";
import { firstWords, visible } from "../../text.ts";
import { count, duration } from "../../time.ts";
import { SearchBox } from "../forms/searchBox.tsx";
import { Icon } from "../icon.tsx";
import { Command } from "../notice.tsx";
import { Rows } from "../tables/rows.tsx";
import { StatusMark } from "../values/status.tsx";
import { TimeStrip } from "./timeStrip.tsx";

/** Number of steps from which a search is offered. */
const MANY_STEPS = 10;

interface StepsProps {
  readonly job: Job;
  readonly steps: readonly StepSummary[];
  readonly ordered: OrderedSteps;
  /** Whether all steps are read. */
  readonly isWhole: boolean;
  readonly gates: readonly Gate[];
  /** The stepKey of the step that the panel shows. */
  readonly selected: string | null;
  readonly hrefOf: (stepKey: string) => string;
}

/** The steps of a job as a list, below a strip that shows when they ran; with a search if there are many. */
export function Steps({ job, steps, ordered, isWhole, gates, selected, hrefOf }: StepsProps) {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const all = Math.max(countOf(job.stepCounts), steps.length);
  const wanted = all >= MANY_STEPS ? text.trim().toLowerCase() : "";
  const { first, completed } = ordered;
  const fold = wanted === "" ? foldOf(ordered, job, isWhole) : null;
  const matches = ({ stepName, stepKey, message }: StepSummary) =>
    [stepName, stepKey, message ?? ""].some((part) => part.toLowerCase().includes(wanted));
  const shown = wanted === "" ? [] : [...first, ...completed].filter(matches);
  const rows: readonly (StepSummary | Fold)[] =
    wanted !== "" ? shown : [...first, ...(fold ? [fold] : []), ...(fold && !isOpen ? [] : completed)];
  const end = endOf(job, now.value);
  return (
    <section aria-labelledby="steps-title" class="steps">
      <div class="step-filter line">
        <h2 id="steps-title">
          Steps <span class="muted">{all > 0 && count(all)}</span>
        </h2>
        <span class="muted" role="status">
          {wanted !== "" && `${count(shown.length)} of ${count(all)} steps`}
        </span>
        {all >= MANY_STEPS && <SearchBox label="Search steps" text={text} setText={setText} />}
      </div>
      {all === 0 && <NoSteps job={job} />}
      {(steps.length > 0 || gates.length > 0) && <TimeStrip {...{ job, steps, gates, selected, hrefOf }} />}
      {rows.length > 0 && (
        <Rows
          rows={rows}
          idOf={(row) => ("stepId" in row ? row.stepId : "fold")}
          label="Steps: failed and running ones first"
          kind="steps"
          columns={["State", "Step", "Message", "Duration"]}
          cells={(row) =>
            "stepId" in row ? (
              <StepCells job={job} step={row} end={end} selected={selected} href={hrefOf(row.stepKey)} />
            ) : (
              <FoldCells fold={row} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
            )
          }
        />
      )}
      {isWhole && all > steps.length && (
        <p class="muted">
          This page shows {count(steps.length)} steps. The API returns all of them:{" "}
          <code>GET /api/jobs/JOB_ID/steps</code>
        </p>
      )}
    </section>
  );
}

/** The cells of the row that stands for completed steps, and unfolds them. */
function FoldCells({ fold, isOpen, onToggle }: { fold: Fold; isOpen: boolean; onToggle: () => void }) {
  return (
    <>
      <span role="cell" class="cell-status status-completed">
        <Icon name="completed" />
      </span>
      <span role="cell" class="cell-name">
        <button type="button" class="fold" aria-expanded={isOpen} onClick={onToggle}>
          {visible(fold.name)}
        </button>
      </span>
      <span role="cell" class="cell-message muted">
        {count(fold.count)} completed
      </span>
      <span role="cell" class="cell-time">
        {fold.tookMs !== null && duration(fold.tookMs)}
      </span>
    </>
  );
}

function NoSteps({ job: { jobId, status } }: { job: Job }) {
  const canReport = status === "running" && hasScope(access.value, "jobs:report");
  return (
    <>
      <p class="muted">
        No steps yet. Each step appears with its first report{canReport ? ", for example this one:" : "."}
      </p>
      {canReport && <Command command={reportStepCommand(jobId)} />}
    </>
  );
}

interface StepCellsProps {
  readonly job: JobSummary;
  readonly step: StepSummary;
  /** The end of the job. */
  readonly end: number;
  /** The stepKey of the step that the panel shows. */
  readonly selected: string | null;
  readonly href: string;
}

/** The cells of a row of the list of steps. */
function StepCells({ job, step, end, selected, href }: StepCellsProps) {
  const { stepName, stepKey, attempts, message } = step;
  const { from, to } = barOf(step, end);
  const isFailed = step.status === "failed";
  return (
    <>
      <span role="cell" class="cell-status">
        <StatusMark status={shownStepStatus(step, job)} stale={isStepStale(step, job, now.value)} />
      </span>
      <span role="cell" class="cell-name">
        <a
          href={href}
          dir="auto"
          title={visible(stepName)}
          aria-current={stepKey === selected ? "true" : undefined}
          data-beside={selected === null ? undefined : true}
        >
          {visible(stepName)}
        </a>
        {attempts > 1 && <span class="muted small">attempt {attempts}</span>}
      </span>
      <span
        role="cell"
        class={`cell-message ${isFailed ? "fault" : "muted"}`}
        title={message ? visible(message) : undefined}
      >
        <bdi>{describe(step)}</bdi>
      </span>
      <span role="cell" class="cell-time">
        {duration(to - from)}
      </span>
    </>
  );
}

/** Returns the first words of a step's message; those of a running one follow its progress. */
const describe = ({ status, progress, message }: StepSummary): string =>
  [status === "running" && `${Math.floor(progress)} %`, message && firstWords(message)].filter(Boolean).join(" · ");
