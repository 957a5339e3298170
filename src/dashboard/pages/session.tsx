import type { RunSummary } from "../../client/client.ts";
import { Crumbs, RecordHead } from "../components/frame/pageHead.tsx";
import { RecordError } from "../components/notice.tsx";
import { TranscriptList } from "../components/session/transcript.tsx";
import { WaitingEvents } from "../components/session/waitingEvents.tsx";
import { isMissing } from "../data/errors.ts";
import { useLive } from "../data/live/useLive.ts";
import { useTranscript } from "../data/session/transcript.ts";
import { address, type Place } from "../router.ts";
import { useTitle } from "../title.ts";

const MAIN = "main";

export function SessionPage({ place: { id: sessionKey } }: { place: Place }) {
  useTitle(sessionKey);
  const { value, error, reload, reloadSoon, loadOlder } = useTranscript(sessionKey);
  const onRun = (run: RunSummary) => {
    // The end of any run may add an event to the main session.
    if (run.sessionKey === sessionKey || sessionKey === MAIN) reloadSoon();
  };
  useLive({ topics: ["runs"] }, { onStart: reload, run: onRun }, [sessionKey]);
  return (
    <>
      <Crumbs href={address("/sessions")}>Sessions</Crumbs>
      {!isMissing(error, "session") && (
        <RecordHead title={sessionKey === MAIN ? "Main session" : sessionKey} id={null}>
          <a class="button" href={`${address("/runs")}?sessionKey=${encodeURIComponent(sessionKey)}`}>
            Runs in this session
          </a>
        </RecordHead>
      )}
      {error !== null && (
        <RecordError record="session" error={error} retry={reload}>
          It was never used, or it was deleted after its retention time.{" "}
          <a href={address("/sessions")}>See all sessions</a>
        </RecordError>
      )}
      {value && <TranscriptList transcript={value} loadOlder={loadOlder} />}
      {sessionKey === MAIN && <WaitingEvents />}
    </>
  );
}
