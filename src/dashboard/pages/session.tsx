import { useEffect } from "preact/hooks";
import { SignalboxError } from "../../client/client.ts";
import { Icon } from "../components/icon.tsx";
import { Failure, NotFound } from "../components/notice.tsx";
import { TranscriptList } from "../components/session/transcript.tsx";
import { WaitingEvents } from "../components/session/waitingEvents.tsx";
import { followLive } from "../data/live/live.ts";
import { useThrottle } from "../data/live/useThrottle.ts";
import { useTranscript } from "../data/session/transcript.ts";
import { address, type Place } from "../router.ts";
import { visible } from "../text.ts";
import { useTitle } from "../title.ts";

const MAIN = "main";

export function SessionPage({ place: { id: sessionKey } }: { place: Place }) {
  useTitle(sessionKey);
  const { value, error, reload, loadOlder } = useTranscript(sessionKey);
  const reloadSoon = useThrottle(reload);
  useEffect(
    () =>
      followLive(
        { topics: ["runs"] },
        {
          onStart: reload,
          run: (run) => {
            // The end of any run may add an event to the main session.
            if (run.sessionKey === sessionKey || sessionKey === MAIN) reloadSoon();
          },
        },
      ),
    [sessionKey],
  );
  return (
    <>
      <p class="crumbs">
        <a href={address("/sessions")} data-up>
          <Icon name="back" /> Sessions
        </a>
      </p>
      {!isMissing(error) && (
        <div class="page-head line">
          <h1>
            <bdi>{sessionKey === MAIN ? "Main session" : visible(sessionKey)}</bdi>
          </h1>
          <a class="button" href={`${address("/runs")}?sessionKey=${encodeURIComponent(sessionKey)}`}>
            Runs in this session
          </a>
        </div>
      )}
      {error !== null && <SessionError error={error} retry={reload} />}
      {value && <TranscriptList transcript={value} loadOlder={loadOlder} />}
      {sessionKey === MAIN && <WaitingEvents />}
    </>
  );
}

const isMissing = (error: unknown): boolean => error instanceof SignalboxError && error.code === "session_not_found";

function SessionError({ error, retry }: { error: unknown; retry: () => void }) {
  if (!isMissing(error)) return <Failure error={error} retry={retry} />;
  return (
    <NotFound title="Session not found">
      It was never used, or it was deleted after its retention time. <a href={address("/sessions")}>See all sessions</a>
    </NotFound>
  );
}
