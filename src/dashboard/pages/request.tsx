import { useState } from "preact/hooks";
import { SignalboxError } from "../../client/client.ts";
import type { DryRun, HookRequest } from "../../wire/hookRequest.ts";
import { showError } from "../components/frame/toasts.tsx";
import { Icon } from "../components/icon.tsx";
import { Failure, NotFound } from "../components/notice.tsx";
import { DryRunView } from "../components/request/dryRun.tsx";
import { TryMapping } from "../components/request/tryMapping.tsx";
import { Facts } from "../components/values/facts.tsx";
import { JsonBlock } from "../components/values/json.tsx";
import { StatusMark } from "../components/values/status.tsx";
import { When } from "../components/values/when.tsx";
import { access, hasScope } from "../data/access.ts";
import { useReloadEvery } from "../data/live/reloadEvery.ts";
import { hookRequests } from "../data/service.ts";
import { useMutation } from "../data/useMutation.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, type Place } from "../router.ts";
import { visible } from "../text.ts";
import { bytes } from "../time.ts";
import { useTitle } from "../title.ts";

const POLL_EVERY_MS = 5_000;
/** Maximum runs of a request that are listed. */
const MAX_RUNS = 20;

export function RequestPage({ place: { id: requestId } }: { place: Place }) {
  const request = useQuery((signal) => hookRequests.get(requestId, { signal }), requestId);
  useTitle(request.value ? `Request to ${request.value.hook}` : "Request");
  useReloadEvery(request.reload, POLL_EVERY_MS); // Its runs may end.
  return (
    <>
      <p class="crumbs">
        <a href={address("/requests")} data-up>
          <Icon name="back" /> Hooks
        </a>
      </p>
      {request.value && <RequestView request={request.value} />}
      {request.error !== null && <RequestError error={request.error} retry={request.reload} />}
    </>
  );
}

function RequestError({ error, retry }: { error: unknown; retry: () => void }) {
  if (!(error instanceof SignalboxError && error.code === "request_not_found"))
    return <Failure error={error} retry={retry} />;
  return (
    <NotFound title="Request not found">
      It was not kept, or it was deleted after the time of <code>hooks.keepRequests</code>.{" "}
      <a href={address("/requests")}>See all requests</a>
    </NotFound>
  );
}

function RequestView({ request }: { request: HookRequest }) {
  const { requestId, hook, mapping, outcome, status, code, reason, signature, repeated } = request;
  const { address: sender, contentType, bodyBytes, runIds, jobIds, createdAt, url } = request;
  const [preview, setPreview] = useState<DryRun | null>(null);
  return (
    <>
      <div class="page-head">
        <div>
          <h1>
            <bdi>{hook}</bdi>
          </h1>
          <bdi class="id muted">{requestId}</bdi>
        </div>
        {request.body !== null && <Actions requestId={requestId} onPreview={setPreview} />}
      </div>
      <section class="card" aria-label="Outcome">
        <div class="headline">
          <StatusMark status={outcome} />
          {reason && (
            <span class={code === null ? "muted" : "fault"}>
              <bdi>{reason}</bdi> {code && <code>{code}</code>}
            </span>
          )}
        </div>
        <Facts
          facts={[
            ["Arrived", <When time={createdAt} />],
            ["Mapping", mapping && <code>{mapping}</code>],
            ["Sender", signature && `${signature.type}: ${signature.verdict}`],
            ["Address", sender],
            ["URL", <code>{url}</code>],
            ["Type", contentType],
            ["Size", bodyBytes !== null && bytes(bodyBytes)],
            ["Answered with", status],
            ["Note", repeated && "It repeats an earlier request, whose runs it returned."],
            ["Jobs", jobIds.length > 0 && <JobLinks jobIds={jobIds} />],
            ["Runs", runIds.length > 0 && jobIds.length === 0 && <RunLinks runIds={runIds} />],
          ]}
        />
      </section>
      {preview && <DryRunView result={preview} />}
      {request.body === null ? (
        <p class="muted section-note">The body of a refused request is not kept.</p>
      ) : (
        <JsonBlock title="Body" value={request.payload} file={`${requestId}-body`} />
      )}
      <JsonBlock title="Headers" value={request.headers} file={`${requestId}-headers`} />
      {Object.keys(request.query).length > 0 && (
        <JsonBlock title="Query" value={request.query} file={`${requestId}-query`} />
      )}
      {request.body !== null && hasScope(access.value, "runs:write") && <EditAndTry request={request} />}
    </>
  );
}

function JobLinks({ jobIds }: { jobIds: readonly string[] }) {
  return (
    <>
      {jobIds.slice(0, MAX_RUNS).map((jobId) => (
        <a key={jobId} class="id" href={address("/jobs/:jobId", jobId)}>
          <bdi>{visible(jobId)}</bdi>{" "}
        </a>
      ))}
      {jobIds.length > MAX_RUNS && `and ${jobIds.length - MAX_RUNS} more`}
    </>
  );
}

function RunLinks({ runIds }: { runIds: readonly string[] }) {
  return (
    <>
      {runIds.slice(0, MAX_RUNS).map((runId) => (
        <a key={runId} class="id" href={address("/runs/:runId", runId)}>
          {runId}{" "}
        </a>
      ))}
      {runIds.length > MAX_RUNS && `and ${runIds.length - MAX_RUNS} more`}
    </>
  );
}

function Actions({ requestId, onPreview }: { requestId: string; onPreview: (result: DryRun) => void }) {
  const [runIds, setRunIds] = useState<readonly string[]>([]);
  const { isPending, mutate } = useMutation(requestId);
  if (!hasScope(access.value, "runs:write")) return null;
  const replay = async (id: string) => setRunIds((await hookRequests.replay(id)).runIds);
  return (
    <div class="acts">
      {runIds.length > 0 && <RunLinks runIds={runIds} />}
      <button
        type="button"
        disabled={isPending}
        onClick={() => hookRequests.dryRun(requestId).then(onPreview, showError)}
      >
        Dry run
      </button>
      <button type="button" disabled={isPending} onClick={() => mutate(replay, "Replayed")}>
        <Icon name="retry" /> Replay
      </button>
    </div>
  );
}

/** A form with the request, to change and to try. The payload is what the mapping reads, whatever the body was sent as. */
function EditAndTry({ request: { hook, headers, payload } }: { request: HookRequest }) {
  const [isOpen, setOpen] = useState(false);
  const others = Object.entries(headers).filter(([name]) => !/^content-/.test(name));
  const texts = Object.fromEntries(others.map(([name, value]) => [name, String(value)]));
  return (
    <section class="section">
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Edit and try
      </button>
      {isOpen && <TryMapping hook={hook} headers={texts} body={JSON.stringify(payload, null, 2)} />}
    </section>
  );
}
