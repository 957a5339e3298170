import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Message } from "../../../client/client.ts";
import { type PromptEvent, promptParts } from "../../data/session/promptParts.ts";
import type { Transcript } from "../../data/session/transcript.ts";
import { address } from "../../router.ts";
import { visible } from "../../text.ts";
import { bytes } from "../../time.ts";
import { showError } from "../frame/toasts.tsx";
import { Notice } from "../notice.tsx";
import { RichText } from "../values/richText.tsx";
import { When } from "../values/when.tsx";
import { useScrollFromEnd } from "./scrollFromEnd.ts";

interface TranscriptProps {
  readonly transcript: Transcript;
  readonly loadOlder: () => Promise<void>;
}

/** The messages of a session, the newest last, at which the page opens. */
export function TranscriptList({ transcript: { messages, nextCursor }, loadOlder }: TranscriptProps) {
  const list = useScrollFromEnd();
  if (messages.length === 0) {
    return <Notice title="No messages yet">The transcript starts when the first turn ends.</Notice>;
  }
  return (
    <>
      {nextCursor !== null && <OlderButton key={nextCursor} onClick={() => loadOlder().catch(showError)} />}
      <ol class="transcript stack" aria-label="Transcript, oldest first" {...list}>
        {messages.map((message) => (
          <li key={message.messageId} class={`turn card turn-${message.role}`}>
            <Turn message={message} />
          </li>
        ))}
      </ol>
    </>
  );
}

/** Loads older messages by a click, and by itself before the reader reaches the beginning. */
function OlderButton({ onClick }: { onClick: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && onClick(), {
      rootMargin: "600px 0px 0px",
    });
    if (button.current) observer.observe(button.current);
    return () => observer.disconnect();
  }, []);
  return (
    <p class="more muted">
      <button ref={button} type="button" onClick={onClick}>
        Show older messages
      </button>
    </p>
  );
}

/** The titles of messages by their roles. Nobody typed a return. */
const TITLES = { user: "Prompt", return: "Return of a job", assistant: "Agent" } as const;

function Turn({ message: { role, content, createdAt, runId, returnOf } }: { message: Message }) {
  const isPrompt = role !== "assistant";
  return (
    <>
      <p class="small muted">
        <b>{TITLES[role]}</b> <When time={createdAt} />
        {isPrompt && runId && (
          <>
            {" "}
            <a href={address("/runs/:runId", runId)}>Run</a>
          </>
        )}
        {returnOf.map(({ jobId, event }) => (
          <span key={jobId}>
            {" "}
            <a href={address("/jobs/:jobId", jobId)}>Job {event}</a>
          </span>
        ))}
      </p>
      {isPrompt ? <Prompt text={content} /> : <RichText text={content} />}
    </>
  );
}

function Prompt({ text: prompt }: { text: string }) {
  const { instructions, events, text } = useMemo(() => promptParts(prompt), [prompt]);
  return (
    <>
      {instructions && (
        <details>
          <summary>Instructions, {bytes(instructions.length)}</summary>
          <div class="raw-text muted">{visible(instructions)}</div>
        </details>
      )}
      {events.length > 0 && (
        <ul class="stack" aria-label="Events">
          {events.map((event) => (
            <li class="well" key={`${event.at} ${event.source}`}>
              <Event event={event} />
            </li>
          ))}
        </ul>
      )}
      {text && <RichText text={text} isClamped />}
    </>
  );
}

function Event({ event: { source, runId, at, text, notes } }: { event: PromptEvent }) {
  return (
    <>
      <p class="small muted">
        {runId ? <a href={address("/runs/:runId", runId)}>Run</a> : <b>{source}</b>} <When time={at} />
        {notes.map((note) => `, ${note}`)}
      </p>
      <RichText text={text} isClamped />
    </>
  );
}
