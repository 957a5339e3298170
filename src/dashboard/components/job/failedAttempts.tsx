import type { FailedRunAttempt, FailedStepAttempt } from "../../../client/client.ts";
import { shownText } from "../../text.ts";
import { duration } from "../../time.ts";
import { Section } from "../section.tsx";
import { Clamp } from "../values/clamp.tsx";
import { When } from "../values/when.tsx";

type FailedAttempt = Omit<FailedRunAttempt, "error"> & Pick<FailedRunAttempt | FailedStepAttempt, "error">;

interface FailedAttemptsProps {
  readonly attempts: readonly FailedAttempt[] | undefined;
}

/** The failed attempts of a step or a run, newest first. */
export function FailedAttempts({ attempts = [] }: FailedAttemptsProps) {
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
