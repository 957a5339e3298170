import { useEffect, useRef, useState } from "preact/hooks";
import type { Message } from "../../../client/client.ts";
import { service } from "../service.ts";
import { type Query, useQuery } from "../useQuery.ts";

/** The messages that are read so far. */
export interface Transcript {
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** The cursor of the messages before; null if all are read. */
  readonly nextCursor: string | null;
}

/** Number of messages that are read at a time: about ten turns of the main session fill a screen. */
const PAGE = 50;

/** Adds the newest page to a transcript. Replaces it if messages between the two are missing. */
function withNewest(known: Transcript | null, page: Transcript): Transcript {
  const ids = new Set(known?.messages.map(({ messageId }) => messageId));
  const fresh = page.messages.filter(({ messageId }) => !ids.has(messageId));
  if (!known || (fresh.length === page.messages.length && known.messages.length > 0)) return page;
  return fresh.length === 0 ? known : { ...known, messages: [...known.messages, ...fresh] };
}

/** Adds the page before to a transcript. */
const withOlder = (known: Transcript, page: Transcript): Transcript => ({
  messages: [...page.messages, ...known.messages],
  nextCursor: page.nextCursor,
});

/** Reads a transcript from its end once `reload` is called, and on request what precedes. */
export function useTranscript(sessionKey: string): Query<Transcript> & { readonly loadOlder: () => Promise<void> } {
  const [known, setKnown] = useState<Transcript | null>(null);
  const newest = useQuery((signal) => service.sessions.messages(sessionKey, { limit: PAGE }, { signal }), sessionKey, {
    isLive: true,
  });
  const { value } = newest;
  useEffect(() => {
    if (value) setKnown((before) => withNewest(before, value));
  }, [value]);
  const isLoading = useRef(false);
  const loadOlder = async () => {
    const cursor = known?.nextCursor;
    if (!cursor || isLoading.current) return;
    isLoading.current = true;
    try {
      const page = await service.sessions.messages(sessionKey, { limit: PAGE, cursor });
      // A transcript that was replaced meanwhile has another page before it.
      setKnown((before) => (before?.nextCursor === cursor ? withOlder(before, page) : before));
    } finally {
      isLoading.current = false;
    }
  };
  return { ...newest, value: known, loadOlder };
}
