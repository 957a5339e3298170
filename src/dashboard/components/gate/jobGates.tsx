import { useEffect } from "preact/hooks";
import type { Gate, Job } from "../../../client/client.ts";
import { access, hasScope } from "../../data/access.ts";
import { countOpenGates } from "../../data/gate/openGates.ts";
import { service } from "../../data/service.ts";
import { type Query, useQuery } from "../../data/useQuery.ts";
import { visible } from "../../text.ts";
import { duration } from "../../time.ts";
import { Failure } from "../notice.tsx";
import { RichText } from "../values/richText.tsx";
import { When } from "../values/when.tsx";
import { GateForm } from "./gateForm.tsx";

/** The questions of a job: the open ones with their form, the others with their answer on one line. */
export function JobGates({ gates: { value, error, reload } }: { gates: Query<Gate[]> }) {
  if (value === null && error !== null) return <Failure error={error} retry={reload} />;
  if (!value || value.length === 0) return null;
  const onAnswered = () => {
    reload();
    void countOpenGates();
  };
  return (
    <section aria-labelledby="gates-title" class="section">
      <h2 id="gates-title">Questions</h2>
      {value.toSorted(openFirst).map((gate) => (
        <article
          key={gate.gateId}
          class={gate.status === "open" ? "card" : "line"}
          aria-labelledby={`gate-${gate.gateId}`}
        >
          <h3 id={`gate-${gate.gateId}`}>
            <bdi>{visible(gate.title)}</bdi>
          </h3>
          {gate.status === "open" ? <OpenGate gate={gate} onAnswered={onAnswered} /> : <ClosedGate gate={gate} />}
        </article>
      ))}
    </section>
  );
}

const openFirst = (a: Gate, b: Gate): number => Number(b.status === "open") - Number(a.status === "open");

function OpenGate({ gate, onAnswered }: { gate: Gate; onAnswered: () => void }) {
  return (
    <>
      {gate.message && (
        <div>
          <RichText text={gate.message} />
        </div>
      )}
      <p class="muted">
        <bdi class="id">{gate.key}</bdi>, asked <When time={gate.createdAt} />
        {gate.expiresAt && (
          <>
            , expires <When time={gate.expiresAt} />. Without an answer by then, it counts as{" "}
            {ACTIONS[gate.onExpiry].toLowerCase()}.
          </>
        )}
      </p>
      {hasScope(access.value, "gates:answer") ? (
        <GateForm gate={gate} onAnswered={onAnswered} />
      ) : (
        <p>This token allows reading only.</p>
      )}
    </>
  );
}

function ClosedGate({ gate }: { gate: Gate }) {
  const { createdAt, answeredAt } = gate;
  return (
    <>
      <p role="status">{resultOf(gate)}</p>
      {answeredAt && (
        <span class="muted">The job waited for {duration(Date.parse(answeredAt) - Date.parse(createdAt))}.</span>
      )}
    </>
  );
}

const ACTIONS = { accept: "Accepted", decline: "Declined", cancel: "Dismissed" } as const;

/** Returns how a gate has ended, as a sentence. */
export function resultOf({ status, action, answeredBy }: Gate): string {
  const decision = action === null ? "" : ACTIONS[action];
  if (status === "answered") return `${decision} by ${answeredBy}.`;
  if (status === "expired") return `Expired without an answer: ${decision.toLowerCase()}.`;
  return status === "withdrawn" ? "Withdrawn: nobody waits for the answer any more." : "";
}

/** Reads the newest gates of a job, oldest first, and again when they may have changed. */
export function useJobGates(job: Job): Query<Gate[]> {
  const { jobId, createdAt, waitingFor } = job;
  const query = useQuery(
    async (signal) => (await service.gates.list({ jobId }, { signal })).gates.toReversed(),
    `${createdAt} ${waitingFor.join("\n")}`,
  );
  // A question that changes sends an event of its job, like a report.
  useEffect(() => {
    if (waitingFor.length > 0) query.reloadSoon();
  }, [job]);
  return query;
}
