import type { Deadline } from "./deadline.ts";

/** One event of a stream of server-sent events; without `data` it is only an id or a retry. */
export interface ServerEvent {
  event?: string;
  data?: string;
  id?: string;
  /** Milliseconds to wait before a reconnect. */
  retry?: string;
}

/**
 * Reads a stream of server-sent events (WHATWG HTML, 9.2). Lines end with a line feed, as those of this service do.
 * @param patience restarted before each wait, and held once something, be it a comment, has come
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  deadline: Pick<Deadline, "restart" | "suspend">,
): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let event: ServerEvent = {};
  for (;;) {
    deadline.restart();
    const { done, value } = await reader.read();
    deadline.suspend();
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop() as string;
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
