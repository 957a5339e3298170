/** One server-sent event. An event without `data` only sets the id or the retry time. */
export interface ServerEvent {
  event?: string;
  data?: string;
  id?: string;
  /** Delay before a reconnect, in milliseconds. */
  retry?: string;
}

/** The limit on the time in which nothing arrives. */
export interface SilenceTimer {
  restart(): void;
  pause(): void;
}

/**
 * Parses a stream of server-sent events (WHATWG HTML, 9.2). Lines may end with LF or CRLF, but not with CR alone, which
 * this service never sends.
 * @param silence restarted before each read and paused after it; comments count as data
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  silence: SilenceTimer,
): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let event: ServerEvent = {};
  for (;;) {
    silence.restart();
    const { done, value } = await reader.read();
    silence.pause();
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
