import { useEffect, useRef } from "preact/hooks";
import type { Gate, Job } from "../../../client/client.ts";
import { access, hasScope } from "../../data/access.ts";
import { countOpenGates } from "../../data/gate/openGates.ts";
import { useThrottle } from "../../data/live/useThrottle.ts";
import { service } from "../../data/service.ts";
import { useQuery } from "../../data/useQuery.ts";
import { visible } from "../../text.ts";
import { Failure } from "../notice.tsx";
import { RichText } from "../values/richText.tsx";
import { When } from "../values/when.tsx";
import { GateForm } from "./gateForm.tsx";

/** The questions of a job: the open ones with their form, and those that were closed while the page is open. */
export function JobGates({ job }: { job: Job }) {
  const { jobId, waitingFor = [] } = job;
  const seen = useRef<string[]>([]);
  seen.current = [...new Set([...seen.current, ...waitingFor])];
  const { value, error, reload } = useQuery((signal) =>
    Promise.all(seen.current.map((key) => service.gates.get(jobId, key, { signal }))),
  );
  const reloadSoon = useThrottle(reload);
  useEffect(reload, [waitingFor.join("\n")]);
  // A question that changes sends an event of its job, like a report.
  useEffect(() => {
    if (waitingFor.length > 0) reloadSoon();
  }, [job]);
  if (seen.current.length === 0) return null;
  const onAnswered = () => {
    reload();
    void countOpenGates();
  };
  return (
    <section aria-labelledby="gates-title" class="gates">
      <h2 id="gates-title">Questions</h2>
      {value === null && error !== null && <Failure error={error} retry={reload} />}
      {value?.map((gate) => (
        <article key={gate.gateId} class="card gate" aria-labelledby={`gate-${gate.gateId}`}>
          <h3 id={`gate-${gate.gateId}`}>
            <bdi>{visible(gate.title)}</bdi>
          </h3>
          {gate.message && (
            <div class="gate-message">
              <RichText text={gate.message} />
            </div>
          )}
          <p class="muted">
            <bdi class="id">{gate.key}</bdi>, asked <When time={gate.createdAt} />
            {gate.status === "open" && gate.expiresAt && (
              <>
                , expires <When time={gate.expiresAt} />. Without an answer by then, it counts as{" "}
                {ACTIONS[gate.onExpiry].toLowerCase()}.
              </>
            )}
          </p>
          {gate.status !== "open" && <p role="status">{resultOf(gate)}</p>}
          {gate.status === "open" && hasScope(access.value, "gates:answer") && (
            <GateForm gate={gate} onAnswered={onAnswered} />
          )}
          {gate.status === "open" && !hasScope(access.value, "gates:answer") && <p>This token allows reading only.</p>}
        </article>
      ))}
    </section>
  );
}

const ACTIONS = { accept: "Accepted", decline: "Declined", cancel: "Cancelled" } as const;

/** Returns how a gate has ended, as a sentence. */
export function resultOf({ status, action, answeredBy }: Gate): string {
  const decision = action === null ? "" : ACTIONS[action];
  if (status === "answered") return `${decision} by ${answeredBy}.`;
  if (status === "expired") return `Expired without an answer: ${decision.toLowerCase()}.`;
  return status === "withdrawn" ? "Withdrawn: nobody waits for the answer any more." : "";
}
