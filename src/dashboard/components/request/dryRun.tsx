import { describeMissing } from "../../../client/calls/hookRequests.ts";
import type { DryRun, RunPreview } from "../../../wire/hookRequest.ts";
import { visible } from "../../text.ts";
import { Facts } from "../values/facts.tsx";
import { JsonBlock, TextBlock } from "../values/json.tsx";

/** Shows what the mappings make of a request with the present configuration: their conditions, placeholders and runs. */
export function DryRunView({ result: { mapping, reason, considered, transform, runCount, runs } }: { result: DryRun }) {
  return (
    <section class="card" aria-label="Mapping" aria-live="polite">
      <h2>{mapping === null ? "No mapping matches" : `Matches ${mapping}`}</h2>
      {considered.map((one) => (
        <Compared key={one.mapping} {...one} />
      ))}
      <Facts
        facts={[
          ["Reason", reason],
          ["Runs", runCount],
          ["Transform", transform && `${transform} is not run here: signalbox hooks test runs it.`],
        ]}
      />
      {runs.map((run, at) => (
        <Preview key={at} run={run} at={at} />
      ))}
    </section>
  );
}

/** A mapping with each of its conditions and the value that the request has for it. */
function Compared({ mapping, conditions }: DryRun["considered"][number]) {
  if (conditions.length === 0) return null;
  return (
    <ul aria-label={`Conditions of ${mapping}`}>
      {conditions.map(({ condition, isMet, found }, at) => (
        <li key={at} class={isMet ? "line" : "line fault"}>
          <span aria-hidden="true">{isMet ? "✓" : "✗"}</span>
          <span class="unseen">{isMet ? "Met: " : "Not met: "}</span>
          <bdi>{visible(condition)}</bdi>
          {!isMet && <span class="muted"> found {found === null ? "nothing" : <bdi>{visible(found)}</bdi>}</span>}
        </li>
      ))}
    </ul>
  );
}

const KINDS = { agent: "agent turn", wake: "main session event", job: "report of a job" } as const;

function Preview({ run, at }: { run: RunPreview; at: number }) {
  const { kind, message, deliver, channel, to, values, error, reports } = run;
  return (
    <>
      {error && (
        <p class="fault">
          <bdi>{error.message}</bdi> <code>{error.code}</code>
        </p>
      )}
      <Facts
        facts={[
          ["Kind", kind && KINDS[kind]],
          ["Name", run.name],
          ["Session", kind !== "job" && kind && (run.sessionKey ?? "one of its own")],
          ["Wake mode", run.wakeMode],
          ["Delivery", deliver === null ? null : deliver ? `${channel}${to === null ? "" : ` to ${to}`}` : "none"],
          ["Model", run.model],
          ["Note", describeMissing(run.missingValues)],
        ]}
      />
      {values.length > 0 && (
        <details>
          <summary>{values.length === 1 ? "1 placeholder" : `${values.length} placeholders`}</summary>
          <Facts facts={values.map(({ path, value }) => [path, value === null ? "—" : <bdi>{visible(value)}</bdi>])} />
        </details>
      )}
      {message !== null && <TextBlock title={`Message ${at + 1}`} text={message} file={`message-${at + 1}.txt`} />}
      {reports && <JsonBlock title={`Reports ${at + 1}`} value={reports} file={`reports-${at + 1}`} />}
    </>
  );
}
