import { useEffect } from "preact/hooks";
import { type Message, SignalboxError } from "../../client/client.ts";
import { Icon } from "../components/icon.tsx";
import { Failure, NotFound, Notice } from "../components/notice.tsx";
import { WaitingEvents } from "../components/waitingEvents.tsx";
import { When } from "../components/when.tsx";
import { followLive } from "../data/live.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { useThrottle } from "../data/useThrottle.ts";
import { address, type Place } from "../router.ts";
import { useTitle } from "../title.ts";

const MAIN = "main";

/** Number of characters shown of a long message before it is unfolded. */
const HEAD_CHARS = 4_000;

export function SessionPage({ place: { id: sessionKey } }: { place: Place }) {
  useTitle(sessionKey);
  const { value, error, reload } = useQuery(
    (signal) => service.sessions.messages(sessionKey, {}, { signal }),
    sessionKey,
  );
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
        <div class="page-head">
          <h1>
            <bdi>{sessionKey === MAIN ? "Main session" : sessionKey}</bdi>
          </h1>
          <a class="button" href={`${address("/runs")}?sessionKey=${encodeURIComponent(sessionKey)}`}>
            Runs in this session
          </a>
        </div>
      )}
      {sessionKey === MAIN && <WaitingEvents />}
      {error !== null && <SessionError error={error} retry={reload} />}
      {value && <Transcript messages={value.messages} />}
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

function Transcript({ messages }: { messages: readonly Message[] }) {
  if (messages.length === 0) {
    return <Notice title="No messages yet">The transcript starts when the first turn ends.</Notice>;
  }
  return (
    <ol class="transcript" aria-label="Transcript, oldest first">
      {messages.map(({ role, content, createdAt }, at) => (
        <li key={`${createdAt} ${at}`} class={`turn turn-${role}`}>
          <p class="turn-head">
            <b>{role === "user" ? "Prompt" : "Agent"}</b> <When time={createdAt} />
          </p>
          <Content text={content} />
        </li>
      ))}
    </ol>
  );
}

function Content({ text }: { text: string }) {
  if (text.length <= HEAD_CHARS) return <p class="turn-text">{text}</p>;
  return (
    <>
      <p class="turn-text">{text.slice(0, HEAD_CHARS)}…</p>
      <details>
        <summary>Show all</summary>
        <p class="turn-text">{text}</p>
      </details>
    </>
  );
}
