import { eventually } from "./eventually.ts";

interface ServerEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  readonly data: any;
}

/** A client of server-sent events that records all events. */
export interface TestEvents {
  readonly status: number;
  readonly headers: Headers;
  readonly events: ServerEvent[];
  /** Returns the last id, which may be that of a heartbeat. */
  lastId(): string | undefined;
  /** Returns whether the server has ended the stream. */
  isOver(): boolean;
  /** Waits for an event after the one that the previous call returned. */
  next(event: string, fits?: (data: ServerEvent["data"]) => boolean): Promise<ServerEvent["data"]>;
  close(): void;
}

/** Opens a stream and waits until it is live, with `live: false` for its first state, or with `live: null` for nothing. */
export async function openEvents(
  url: string,
  headers: Record<string, string> = {},
  { live = true }: { readonly live?: boolean | null } = {},
): Promise<TestEvents> {
  const stop = new AbortController();
  const response = await fetch(url, { headers, signal: stop.signal });
  const events: ServerEvent[] = [];
  let lastId: string | undefined;
  let seen = 0;
  let isOver = false;

  function take(block: string): void {
    const fields = block.split("\n").map((line) => /^(\w*): ?(.*)$/.exec(line)?.slice(1) ?? ["", ""]);
    const field = (name: string) => fields.findLast(([key]) => key === name)?.[1];
    lastId = field("id") ?? lastId;
    const [event, data] = [field("event"), field("data")];
    if (event !== undefined && data !== undefined) events.push({ event, data: JSON.parse(data) });
  }
  async function read(): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      blocks.forEach(take);
    }
  }
  const reading = read()
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  const client: TestEvents = {
    status: response.status,
    headers: response.headers,
    events,
    lastId: () => lastId,
    isOver: () => isOver,
    next: (event, fits = () => true) =>
      eventually(() => {
        const at = events.findIndex((one, i) => i >= seen && one.event === event && fits(one.data));
        if (at < 0) return false;
        seen = at + 1;
        return events[at]?.data;
      }, `an event ${event}`),
    close() {
      stop.abort();
      void reading;
    },
  };
  if (response.status === 200 && live !== null) await client.next("state", (state) => !live || state.live);
  return client;
}
