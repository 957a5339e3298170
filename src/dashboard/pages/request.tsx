import { useState } from "preact/hooks";
import type { HookRequest } from "../../wire/hookRequest.ts";
import { ActButton } from "../components/buttons.tsx";
import { Crumbs, RecordHead } from "../components/frame/pageHead.tsx";
import { Failure, RecordError } from "../components/notice.tsx";
import { DryRunView } from "../components/request/dryRun.tsx";
import { TryMapping } from "../components/request/tryMapping.tsx";
import { WentOut } from "../components/request/wentOut.tsx";
import { Facts } from "../components/values/facts.tsx";
import { JsonBlock } from "../components/values/json.tsx";
import { StatusMark } from "../components/values/status.tsx";
import { When } from "../components/values/when.tsx";
import { access, hasScope } from "../data/access.ts";
import { useReloadEvery } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { useMutation } from "../data/useMutation.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, type Place } from "../router.ts";
import { visible } from "../text.ts";
import { bytes } from "../time.ts";
import { useTitle } from "../title.ts";

const POLL_EVERY_MS = 5_000;

export function RequestPage({ place: { id: requestId } }: { place: Place }) {
  const request = useQuery((signal) => service.hookRequests.get(requestId, { signal }), requestId);
  useTitle(request.value ? `Request to ${request.value.hook}` : "Request");
  useReloadEvery(request.reload, POLL_EVERY_MS); // Its runs may end.
  return (
    <>
      <Crumbs href={address("/requests")}>Hooks</Crumbs>
      {request.value && <RequestView request={request.value} />}
      {request.error !== null && (
        <RecordError record="request" error={request.error} retry={request.reload}>
          It was not kept, or it was deleted after the time of <code>hooks.keepRequests</code>.{" "}
          <a href={address("/requests")}>See all requests</a>
        </RecordError>
      )}
    </>
  );
}

function RequestView({ request }: { request: HookRequest }) {
  const { requestId, hook, mapping, event, object, outcome, status, code, reason, signature } = request;
  const { address: sender, contentType, bodyBytes, createdAt, url } = request;
  const isTried = request.body !== null && hasScope(access.value, "runs:write");
  const preview = useQuery(
    (signal) => (isTried ? service.hookRequests.dryRun(requestId, {}, { signal }) : Promise.resolve(null)),
    requestId,
  );
  return (
    <>
      <RecordHead title={event ? `${hook} ${event}` : hook} id={object === null ? requestId : visible(object)}>
        {isTried && <Replay requestId={requestId} />}
      </RecordHead>
      <p class="headline line">
        <StatusMark status={outcome} />
        {reason && (
          <span class={code === null ? "muted" : "fault"}>
            <bdi>{reason}</bdi> {code && <code>{code}</code>}
          </span>
        )}
      </p>
      <div class="grid columns-2 stack">
        <div>
          <section class="card" aria-label="Came in">
            <h2>Came in</h2>
            <Facts
              facts={[
                ["Arrived", <When time={createdAt} />],
                ["Sender", signature && `${signature.type}: ${signature.verdict}`],
                ["Address", sender],
                ["URL", <code>{url}</code>],
                ["Type", contentType],
                ["Size", bodyBytes !== null && bytes(bodyBytes)],
                ["Answered with", status],
                ["Request", <span class="id">{requestId}</span>],
              ]}
            />
          </section>
          {request.body === null ? (
            <p class="muted">The body of a refused request is not kept.</p>
          ) : (
            <JsonBlock title="Body" value={request.payload} size={bodyBytes} file={`${requestId}-body`} />
          )}
          <JsonBlock title="Headers" value={request.headers} file={`${requestId}-headers`} />
          {Object.keys(request.query).length > 0 && (
            <JsonBlock title="Query" value={request.query} file={`${requestId}-query`} />
          )}
        </div>
        {preview.value ? (
          <DryRunView result={preview.value} />
        ) : (
          <section class="card" aria-label="Mapping">
            <h2>{mapping === null ? "No mapping matches" : `Matches ${mapping}`}</h2>
            {preview.error !== null && <Failure error={preview.error} retry={preview.reload} />}
          </section>
        )}
        <WentOut request={request} />
      </div>
      {isTried && <EditAndTry request={request} />}
    </>
  );
}

function Replay({ requestId }: { requestId: string }) {
  const [runIds, setRunIds] = useState<readonly string[]>([]);
  const { isPending, mutate } = useMutation(requestId);
  const replay = async (id: string) => setRunIds((await service.hookRequests.replay(id)).runIds);
  return (
    <div class="acts line">
      <ActButton icon="retry" label="Replay" disabled={isPending} act={() => mutate(replay, "Replayed")} />
      {runIds.length > 0 && (
        <span>
          Replayed: <a href={address("/runs/:runId", runIds[0])}>open the run</a>
          {runIds.length > 1 && ` (${runIds.length} runs)`}
        </span>
      )}
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
