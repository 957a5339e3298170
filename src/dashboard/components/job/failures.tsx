import type { FailedRunAttempt, FailedStepAttempt, StepSummary } from "../../../client/client.ts";
import { shownText } from "../../text.ts";
import { count, duration } from "../../time.ts";
import { Section } from "../section.tsx";
import { Clamp } from "../values/clamp.tsx";
import { When } from "../values/when.tsx";

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

type FailedAttempt = Omit<FailedRunAttempt, "error"> & Pick<FailedRunAttempt | FailedStepAttempt, "error">;

/** The failed attempts of a step or a run, newest first. */
export function FailedAttempts({ attempts = [] }: { attempts: readonly FailedAttempt[] | undefined }) {
  if (attempts.length === 0) return null;
  return (
    <Section id="attempts" title="Failed attempts">
      <ol class="tries stack">
        {attempts.toReversed().map(({ attempt, error, stderr, startedAt, endedAt }) => (
          <li class="well" key={endedAt}>
            <p class="muted">
              Attempt {attempt}, failed <When time={endedAt} /> after{" "}
              {duration(Date.parse(endedAt) - Date.parse(startedAt))}
            </p>
            <Clamp as="div" lines={6}>
              <div class="raw-text" dir="auto">
                {shownText(textOf(error))}
              </div>
            </Clamp>
            {stderr && (
              <Clamp as="div" lines={6}>
                <pre class="raw-text">{shownText(stderr)}</pre>
              </Clamp>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}

const textOf = (error: string | null | { readonly message: string }): string =>
  (typeof error === "string" ? error : error?.message) ?? "No message was reported.";
