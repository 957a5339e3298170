/** One event of a stream of server-sent events; without `data` it is only an id or a retry. */
export interface ServerEvent {
  event?: string;
  data?: string;
  id?: string;
  /** Milliseconds to wait before a reconnect. */
  retry?: string;
}

/**
 * Reads a stream of server-sent events (WHATWG HTML, 9.2).
 * @param onRead called before each wait, and with true once something, be it a comment, has come
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onRead: (hasCome: boolean) => void,
): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let endsWithReturn = false;
  let event: ServerEvent = {};
  for (;;) {
    onRead(false);
    const { done, value } = await reader.read();
    onRead(true);
    if (done) return;
    // A carriage return ends a line; the line feed after it may be in the next piece.
    const piece = endsWithReturn && value.startsWith("\n") ? value.slice(1) : value;
    endsWithReturn = value.endsWith("\r");
    const lines = (rest + piece).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line) {
        take(event, line);
        continue;
      }
      yield event;
      event = {};
    }
  }
}

/** Of a comment the name is empty; what has a name that nobody knows stays unread. */
function take(event: ServerEvent, line: string): void {
  const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
  const before = name === "data" && event.data !== undefined ? `${event.data}\n` : "";
  event[name as keyof ServerEvent] = before + value;
}
