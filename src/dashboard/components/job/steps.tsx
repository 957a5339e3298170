import { useState } from "preact/hooks";
import type { Job, StepSummary } from "../../../client/client.ts";
import { access, hasScope } from "../../data/access.ts";
import { reportStepCommand } from "../../data/commands.ts";
import { count } from "../../time.ts";
import { Command } from "../emptyState.tsx";
import { Timeline } from "./timeline.tsx";

/** Number of steps from which a search is offered. */
const MANY_STEPS = 10;

interface StepsProps {
  readonly job: Job;
  readonly steps: readonly StepSummary[];
  readonly hasMoreSteps: boolean;
  readonly hrefOf: (stepKey: string) => string;
}

/** The steps of a job on a time axis, with a search if there are many. */
export function Steps({ job, steps, hasMoreSteps, hrefOf }: StepsProps) {
  const [text, setText] = useState("");
  const [failedOnly, setFailedOnly] = useState(false);
  const failed = steps.filter(({ status }) => status === "failed").length;
  const isMany = steps.length >= MANY_STEPS;
  const wanted = isMany ? text.trim().toLowerCase() : "";
  const onlyFailed = failedOnly && failed > 0;
  const shown = steps.filter(
    ({ status, stepName, stepKey, message }) =>
      (!onlyFailed || status === "failed") &&
      (wanted === "" || [stepName, stepKey, message ?? ""].some((part) => part.toLowerCase().includes(wanted))),
  );
  return (
    <section aria-labelledby="steps-title" class="steps">
      <h2 id="steps-title">
        Steps <span class="muted">{steps.length > 0 && count(steps.length)}</span>
      </h2>
      {(isMany || failed > 0) && (
        <div class="step-filter">
          {isMany && (
            <input
              type="search"
              aria-label="Search steps"
              placeholder="Search steps"
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
          {failed > 0 && (
            <label>
              <input
                type="checkbox"
                checked={failedOnly}
                onChange={({ currentTarget }) => setFailedOnly(currentTarget.checked)}
              />
              Failed only ({count(failed)})
            </label>
          )}
          <span class="muted" role="status">
            {shown.length < steps.length && `${count(shown.length)} of ${count(steps.length)} steps`}
          </span>
        </div>
      )}
      {steps.length === 0 && <NoSteps job={job} />}
      {shown.length > 0 && <Timeline job={job} steps={shown} hrefOf={hrefOf} />}
      {hasMoreSteps && (
        <p class="muted">
          This page shows {count(steps.length)} steps. The API returns all of them:{" "}
          <code>GET /api/jobs/JOB_ID/steps</code>
        </p>
      )}
    </section>
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
