import type { Run } from "../../../client/client.ts";
import type { HookRequest } from "../../../wire/hookRequest.ts";
import { useReloadEvery } from "../../data/live/useLive.ts";
import { service } from "../../data/service.ts";
import { useQuery } from "../../data/useQuery.ts";
import { address } from "../../router.ts";
import { visible } from "../../text.ts";
import { Clamp } from "../values/clamp.tsx";
import { StatusMark } from "../values/status.tsx";

const RELOAD_EVERY_MS = 5_000;
/** Maximum runs or jobs that are listed, and maximum runs whose state and reply are shown. */
const MAX_LISTED = 20;
const MAX_SHOWN = 3;

/** The runs and jobs of a request, the first runs with their state, their reply and where it was sent. */
export function WentOut({ request: { runIds, jobIds, repeated } }: { request: HookRequest }) {
  const ids = jobIds.length > 0 ? [] : runIds.slice(0, MAX_SHOWN);
  const load = (signal: AbortSignal) =>
    Promise.all(ids.map((id) => service.runs.get(id, { signal }).catch(() => null)));
  const { value, reload } = useQuery(load, ids.join());
  useReloadEvery(reload, RELOAD_EVERY_MS);
  return (
    <section class="card" aria-label="Went out">
      <h2>Went out</h2>
      {repeated && <p class="muted">It repeats an earlier request, whose runs it returned.</p>}
      {runIds.length === 0 && jobIds.length === 0 && <p class="muted">Nothing.</p>}
      {jobIds.length > 0 && <Links kind="/jobs/:jobId" ids={jobIds} />}
      {value?.map((run) => run && <RunResult key={run.runId} run={run} />)}
      {jobIds.length === 0 && <Links kind="/runs/:runId" ids={runIds.slice(value ? ids.length : 0)} />}
    </section>
  );
}

function RunResult({ run: { runId, name, status, reply, error, deliveries } }: { run: Run }) {
  return (
    <div>
      <StatusMark status={status} /> <a href={address("/runs/:runId", runId)}>{visible(name ?? "") || runId}</a>
      {error && <p class="fault">{visible(error.message)}</p>}
      {reply && (
        <Clamp as="div" lines={6} class="raw-text">
          {visible(reply)}
        </Clamp>
      )}
      {deliveries.map(({ deliveryId, channel, state }) => (
        <p key={deliveryId} class="muted">
          <StatusMark status={state} /> {channel}
        </p>
      ))}
    </div>
  );
}

/** Links to runs or jobs, of which there may be a thousand. */
function Links({ kind, ids }: { kind: "/jobs/:jobId" | "/runs/:runId"; ids: readonly string[] }) {
  return (
    <>
      {ids.slice(0, MAX_LISTED).map((id) => (
        <a key={id} class="id" href={address(kind, id)}>
          <bdi>{visible(id)}</bdi>{" "}
        </a>
      ))}
      {ids.length > MAX_LISTED && `and ${ids.length - MAX_LISTED} more`}
    </>
  );
}
