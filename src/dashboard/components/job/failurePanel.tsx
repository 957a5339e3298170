import type { StepSummary } from "../../../client/client.ts";
import { shownText } from "../../text.ts";
import { count } from "../../time.ts";
import { Clamp } from "../values/clamp.tsx";

interface FailurePanelProps {
  readonly message: string | null;
  readonly code?: string;
  readonly failedSteps?: readonly StepSummary[];
  readonly hrefOf?: (stepKey: string) => string;
}

/** Why a job, a step or a run failed, with links to the steps that failed. */
export function FailurePanel({ message, code, failedSteps = [], hrefOf }: FailurePanelProps) {
  const step = failingStep(failedSteps, message);
  const others = failedSteps.length - 1;
  return (
    <section class="failure note note-fault" aria-label="Failure">
      <h2>Error {code && <code>{code}</code>}</h2>
      <Clamp as="div" lines={6}>
        <div class="raw-text" dir="auto">
          {message === null ? "No message was reported." : shownText(message)}
        </div>
      </Clamp>
      {step && hrefOf && (
        <p>
          Failing step: <a href={hrefOf(step.stepKey)}>{shownText(step.stepName)}</a>
          {others > 0 && ` and ${count(others)} more`}
        </p>
      )}
    </section>
  );
}

/** Returns the step whose failure the job has taken over: the latest that failed with its message, or else the latest. */
function failingStep(failed: readonly StepSummary[], message: string | null): StepSummary | undefined {
  const latest = failed.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  return latest.find((step) => step.message === message) ?? latest[0];
}
