/** One server-sent event. An event without `data` only sets the id or the retry time. */
export interface ServerEvent {
  event?: string;
  data?: string;
  id?: string;
  /** Delay before a reconnect, in milliseconds. */
  retry?: string;
}

/** Restarts the limit on the time in which nothing arrives, or stops it while nothing is awaited. */
export type LimitSilence = (isAwaited: boolean) => void;

/**
 * Parses a stream of server-sent events (WHATWG HTML, 9.2). Lines may end with LF or CRLF, but not with CR alone, which
 * this service never sends.
 * @param limitSilence called before and after each read; comments count as data
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  limitSilence: LimitSilence,
): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let event: ServerEvent = {};
  for (;;) {
    limitSilence(true);
    const { done, value } = await reader.read();
    limitSilence(false);
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop() as string;
    for (const line of lines) {
      if (line) {
        setField(event, line);
        continue;
      }
      yield event;
      event = {};
    }
  }
}

/** Sets the field that the line holds. A comment sets the field with an empty name, which is never read. */
function setField(event: ServerEvent, line: string): void {
  const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
  const before = name === "data" && event.data !== undefined ? `${event.data}\n` : "";
  event[name as keyof ServerEvent] = before + value;
}
