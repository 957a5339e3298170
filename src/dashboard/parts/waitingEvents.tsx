import { useLoaded } from "../loaded.ts";
import { useReloadEvery } from "../reloadEvery.ts";
import { service } from "../service.ts";
import { count } from "../time.ts";
import { Failure } from "./notice.tsx";
import { When } from "./when.tsx";

const EVERY_MS = 5_000;

/** What waits for the main session's next heartbeat. No live news tell of it: it is read again every few seconds. */
export function WaitingEvents() {
  const { value, error, reload } = useLoaded((signal) => service.sessions.waitingEvents({}, { signal }));
  useReloadEvery(reload, EVERY_MS);
  if (error !== null && value === null) return <Failure error={error} retry={reload} />;
  if (value === null) return null;
  const { events, waiting } = value;
  return (
    <section class="card waiting" aria-labelledby="waiting-title">
      <h2 id="waiting-title">
        Waiting for the main session <span class="muted">{count(waiting)}</span>
      </h2>
      {events.length === 0 ? (
        <p class="muted">Nothing waits: every event has been taken up by a heartbeat.</p>
      ) : (
        <ol tabIndex={0} aria-label="Events, oldest first">
          {events.map(({ eventId, text, source, createdAt }) => (
            <li key={eventId}>
              <bdi>{text}</bdi>
              <span class="muted">
                {source ?? "wake"}, <When time={createdAt} />
              </span>
            </li>
          ))}
        </ol>
      )}
      {waiting > events.length && <p class="muted">and {count(waiting - events.length)} more, newer than these</p>}
    </section>
  );
}
