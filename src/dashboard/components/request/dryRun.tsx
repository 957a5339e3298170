import { describeMissing } from "../../../client/calls/hookRequests.ts";
import type { DryRun, RunPreview } from "../../../wire/hookRequest.ts";
import { Facts } from "../values/facts.tsx";
import { JsonBlock, TextBlock } from "../values/json.tsx";

/** Shows the result that the mappings would have for a request. */
export function DryRunView({ result: { mapping, reason, considered, transform, runCount, runs } }: { result: DryRun }) {
  return (
    <section class="card section" aria-label="Dry run" aria-live="polite">
      <h2 class="section-title">{mapping === null ? "No mapping matches" : `Matches ${mapping}`}</h2>
      <Facts
        facts={[
          ["Runs", runCount],
          ["Reason", reason],
          [
            "Not met",
            considered
              .filter(({ unmet }) => unmet !== null)
              .map((one) => `${one.mapping}: ${one.reason}`)
              .join("; "),
          ],
          ["Transform", transform && `${transform} is not run here: signalbox hooks test runs it.`],
        ]}
      />
      {runs.map((run, at) => (
        <Preview key={at} run={run} at={at} />
      ))}
    </section>
  );
}

const KINDS = { agent: "agent turn", wake: "main session event", job: "report of a job" } as const;

function Preview({ run, at }: { run: RunPreview; at: number }) {
  const { kind, name, message, sessionKey, wakeMode, deliver, channel, to, model, missingValues, error, reports } = run;
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
          ["Name", name],
          ["Session", kind !== "job" && kind && (sessionKey ?? "one of its own")],
          ["Wake mode", wakeMode],
          ["Delivery", deliver === null ? null : deliver ? `${channel}${to === null ? "" : ` to ${to}`}` : "none"],
          ["Model", model],
          ["Note", describeMissing(missingValues)],
        ]}
      />
      {message !== null && <TextBlock title={`Message ${at + 1}`} text={message} file={`message-${at + 1}.txt`} />}
      {reports && <JsonBlock title={`Reports ${at + 1}`} value={reports} file={`reports-${at + 1}`} />}
    </>
  );
}
