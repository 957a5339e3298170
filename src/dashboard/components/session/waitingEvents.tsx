import { useState } from "preact/hooks";
import { access, hasScope } from "../../data/access.ts";
import { useReloadEvery } from "../../data/live/useLive.ts";
import { service } from "../../data/service.ts";
import { useMutation } from "../../data/useMutation.ts";
import { useQuery } from "../../data/useQuery.ts";
import { count } from "../../time.ts";
import { ActButton } from "../buttons.tsx";
import { Confirm } from "../forms/confirm.tsx";
import { Failure } from "../notice.tsx";
import { When } from "../values/when.tsx";

const EVERY_MS = 5_000;

/** The events that wait for the main session's next heartbeat. They are polled, because no live events report them. */
export function WaitingEvents() {
  const { value, error, reload } = useQuery((signal) => service.sessions.waitingEvents({}, { signal }));
  useReloadEvery(reload, EVERY_MS);
  if (error !== null && value === null) return <Failure error={error} retry={reload} />;
  if (value === null) return null;
  const { events, waiting } = value;
  return (
    <section class="card waiting" aria-labelledby="waiting-title">
      <h2 id="waiting-title">
        Events waiting for the main session <span class="muted">{count(waiting)}</span>
      </h2>
      {events.length === 0 ? (
        <p class="muted">No events are waiting: the main session has handled all of them.</p>
      ) : (
        <ol class="stack" tabIndex={0} aria-label="Events, oldest first">
          {events.map(({ eventId, text, source, createdAt }) => (
            <li key={eventId} class="line">
              <div class="grow">
                <bdi class="raw-text">{text}</bdi>
                <p class="small muted">
                  {source}, <When time={createdAt} />
                </p>
              </div>
              <RemoveButton eventId={eventId} onEnd={reload} />
            </li>
          ))}
        </ol>
      )}
      {waiting > events.length && <p class="muted">and {count(waiting - events.length)} newer events</p>}
    </section>
  );
}

/** Removes an event, such as one that every turn fails on, if the access allows changes. */
function RemoveButton({ eventId, onEnd }: { eventId: string; onEnd: () => void }) {
  const [isConfirming, setConfirming] = useState(false);
  const { isPending, mutate } = useMutation(eventId, onEnd);
  if (!hasScope(access.value, "runs:write")) return null;
  return (
    <>
      <ActButton icon="trash" label="Remove" disabled={isPending} act={() => setConfirming(true)} />
      {isConfirming && (
        <Confirm
          title="Remove this event?"
          text="The main session will not receive this event. A turn in progress may already include it."
          action="Remove"
          onYes={() => mutate(service.sessions.deleteEvent, "Event removed")}
          onClose={() => setConfirming(false)}
        />
      )}
    </>
  );
}
