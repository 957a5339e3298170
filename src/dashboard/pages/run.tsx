import { useRef } from "preact/hooks";
import { describeMissing } from "../../client/calls/hookRequests.ts";
import type { Run, RunRequest, WaitsFor } from "../../client/client.ts";
import { now } from "../clock.ts";
import { ActButton } from "../components/buttons.tsx";
import { DeliveryList } from "../components/delivery/deliveryList.tsx";
import { Crumbs, RecordHead } from "../components/frame/pageHead.tsx";
import { FailedAttempts, FailurePanel } from "../components/job/failures.tsx";
import { JobLink } from "../components/job/links.tsx";
import { Failure, GuideLink, RecordError } from "../components/notice.tsx";
import { LiveTurn } from "../components/run/liveTurn.tsx";
import { Section } from "../components/section.tsx";
import { Facts } from "../components/values/facts.tsx";
import { JsonBlock, TextBlock } from "../components/values/json.tsx";
import { StatusMark } from "../components/values/status.tsx";
import { When } from "../components/values/when.tsx";
import { access, hasScope } from "../data/access.ts";
import { useLive } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { useMutation } from "../data/useMutation.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, navigate, type Place } from "../router.ts";
import { duration } from "../time.ts";
import { useTitle } from "../title.ts";
import { dollars, tokens } from "../usage.ts";

export function RunPage({ place: { id: runId } }: { place: Place }) {
  const run = useQuery((signal) => service.runs.get(runId, { signal }), runId, { isLive: true });
  const request = useQuery((signal) => service.runs.request(runId, { signal }), runId, { isLive: true });
  useTitle(run.value?.name || "Run", run.value?.status);
  const reload = () => {
    run.reload();
    request.reload();
  };
  const reloadSoon = () => {
    run.reloadSoon();
    request.reloadSoon();
  };
  const runAhead = useRef<string | null>(null);
  runAhead.current = run.value?.waitsFor?.runId ?? null;
  useLive(
    { topics: ["runs", "deliveries"] },
    {
      onStart: reload,
      run: (summary) => {
        if (summary.runId === runId) reloadSoon(); // Events lack the reply.
        if (summary.runId === runAhead.current) run.reloadSoon();
      },
      delivery: (delivery) => {
        if (delivery.runId === runId) run.reloadSoon();
      },
    },
    [runId],
  );
  return (
    <>
      <Crumbs href={address("/runs")}>Runs</Crumbs>
      {run.value && <RunView run={run.value} request={request.value} onChange={reload} />}
      {request.error !== null && run.value && <Failure error={request.error} retry={request.reload} />}
      {run.error !== null && (
        <RecordError record="run" error={run.error} retry={run.reload}>
          It never existed, or it was deleted after its retention time. <a href={address("/runs")}>See all runs</a>
        </RecordError>
      )}
    </>
  );
}

const replyTitle = ({ replyCutOff }: Run) =>
  replyCutOff ? "Reply (cut off: the model reached its length limit)" : "Reply";

const KINDS = {
  agent: "agent turn",
  wake: "main session event",
  return: "news of jobs",
  job: "report of a job",
} as const;

/** The jobs of which a run has the news. */
function Returns({ returns }: { returns: Run["returnOf"] }) {
  return (
    <>
      {returns.map(({ jobId, event }, i) => (
        <span key={jobId}>
          {i > 0 && ", "}
          <JobLink jobId={jobId} /> {event}
        </span>
      ))}
    </>
  );
}

function RunView({ run, request, onChange }: { run: Run; request: RunRequest | null; onChange: () => void }) {
  const { runId, name, kind, sessionKey, status, attempts, error, reply, usage, deliveries } = run;
  const { createdAt, startedAt, endedAt } = run;
  const present = now.value;
  const title = name || (kind === "wake" ? "Wake" : kind === "return" ? "Return" : "Hook");
  return (
    <>
      <RecordHead title={title} id={runId}>
        <Actions run={run} onChange={onChange} />
      </RecordHead>
      <section class="card" aria-label="Result">
        <div class="headline line" aria-live="polite">
          <StatusMark status={status} />
        </div>
        {error && <FailurePanel {...error} />}
        {status === "failed" && (
          <p class="failure-guide">
            <GuideLink page="how-to/debug-a-failed-run" />
          </p>
        )}
        <Facts
          facts={[
            ["Kind", KINDS[kind]],
            ["News of", run.returnOf.length > 0 && <Returns returns={run.returnOf} />],
            ["Job", run.jobId !== undefined && <JobLink jobId={run.jobId} />],
            ["Note", describeMissing(run.missingValues)],
            [
              "Session",
              sessionKey !== null && kind !== "job" && (
                <a href={address("/sessions/:sessionKey", sessionKey)}>
                  <bdi>{sessionKey}</bdi>
                </a>
              ),
            ],
            ["Agent", run.agentId && <code>{run.agentId}</code>],
            ["Waits for", run.waitsFor && <Waiting waitsFor={run.waitsFor} />],
            ["Attempts", attempts],
            ["Input tokens", usage && tokens(usage.inputTokens, usage.cachedInputTokens, "cached")],
            ["Output tokens", usage && tokens(usage.outputTokens, usage.reasoningTokens, "reasoning")],
            ["Cost", usage?.costUsd != null && dollars(usage.costUsd)],
            ["Accepted", <When time={createdAt} />],
            ["Started", startedAt && <When time={startedAt} />],
            [
              endedAt ? "Duration" : "Running for",
              startedAt && duration((endedAt ? Date.parse(endedAt) : present) - Date.parse(startedAt)),
            ],
            [
              "Request",
              run.requestId && <a href={address("/requests/:requestId", run.requestId)}>what the sender sent</a>,
            ],
            ["Replay of", run.replayOf && <a href={address("/requests/:requestId", run.replayOf)}>a kept request</a>],
            ["Rerun of", run.againOf && <a href={address("/runs/:runId", run.againOf)}>an earlier run</a>],
            ["Tracked as", request?.request?.trackAsJob && <a href={address("/jobs/:jobId", runId)}>a job</a>],
          ]}
        />
      </section>
      {status === "running" && <LiveTurn runId={runId} />}
      {reply !== null && <TextBlock title={replyTitle(run)} text={reply || "(empty)"} file={`${runId}-reply.txt`} />}
      {run.stderr && <TextBlock title="Standard error" text={run.stderr} file={`${runId}-stderr.txt`} />}
      <FailedAttempts attempts={run.failedAttempts} />
      {deliveries.length > 0 && (
        <Section id="deliveries" title="Deliveries">
          <DeliveryList deliveries={deliveries} />
        </Section>
      )}
      {request && <RequestView run={run} request={request} />}
      {deliveries.length === 0 && status === "completed" && (
        <p class="muted">The reply was not delivered: the hook did not request a delivery, or the reply was empty.</p>
      )}
    </>
  );
}

/** Names the reason why a queued run has not started, with a link to the run that is ahead. */
function Waiting({ waitsFor: { kind, runId, notBefore } }: { waitsFor: WaitsFor }) {
  if (kind === "answer" && runId)
    return <a href={address("/jobs/:jobId", runId)}>the answer to a question of its budget</a>;
  if (runId) return <a href={address("/runs/:runId", runId)}>a run of the same session</a>;
  if (notBefore) {
    return (
      <>
        the next attempt, <When time={notBefore} />
      </>
    );
  }
  return <>{kind === "session" ? "another turn in its session" : "a free worker"}</>;
}

function RequestView({ run: { runId, requestId }, request: { request, call } }: { run: Run; request: RunRequest }) {
  const { message, instructions, ...options } = request ?? {};
  return (
    <>
      {message !== undefined && <TextBlock title="Prompt" text={message} file={`${runId}-message.txt`} />}
      {instructions && <TextBlock title="Instructions" text={instructions} file={`${runId}-instructions.txt`} />}
      {request && <JsonBlock title="Options" value={options} file={`${runId}-options`} />}
      {call && (
        <Section id="call" title="Request">
          <Facts
            facts={[
              ["Path", call.path && <code>{call.path}</code>],
              ["Mapping", <code>{call.mapping}</code>],
            ]}
          />
          {call.payload === null || call.payload === undefined ? (
            <p class="muted">
              {requestId === null ? (
                "The body is not stored after the mapping was applied."
              ) : (
                <a href={address("/requests/:requestId", requestId)}>See the body that the sender sent</a>
              )}
            </p>
          ) : (
            <JsonBlock title="Body" value={call.payload} file={`${runId}-body`} />
          )}
        </Section>
      )}
      {!request && !call && <p class="muted">The request of this run is no longer stored.</p>}
    </>
  );
}

function Actions({ run: { runId, kind, status }, onChange }: { run: Run; onChange: () => void }) {
  const { isPending, mutate } = useMutation(runId, onChange);
  if (!hasScope(access.value, "runs:write")) return null;
  const again = async (id: string) => {
    const { runId: newId } = await service.runAgain(id);
    navigate(address("/runs/:runId", newId));
  };
  return (
    <div class="acts line">
      {kind !== "wake" && (status === "completed" || status === "failed") && (
        <ActButton icon="again" label="Run again" disabled={isPending} act={() => mutate(again, "Run started")} />
      )}
      {status === "failed" && (
        <ActButton
          icon="retry"
          label="Retry"
          disabled={isPending}
          act={() => mutate(service.runs.retry, "Retry started")}
        />
      )}
      {(status === "queued" || status === "waiting" || status === "running") && (
        <ActButton
          icon="cancel"
          label="Cancel"
          disabled={isPending}
          act={() => mutate(service.runs.cancel, "Run cancelled")}
        />
      )}
    </div>
  );
}
