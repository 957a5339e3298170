import { Readable } from "node:stream";

/** Maximum characters buffered for a slow client. Beyond it the client receives a `reload` instead of events. */
const MAX_BUFFERED_CHARS = 256 * 1024;
/** Maximum consecutive heartbeats during which a client may read nothing of its buffer. */
const MAX_MISSED_HEARTBEATS = 3;

/** Formats an event as text/event-stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export const formatLiveEvent = (event: string, data: unknown): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n`;

/**
 * The server-sent events of one client, with a bounded buffer. A client that does not keep up ("behind") receives no more
 * events until it has read the buffer, and then a `reload`.
 */
export class EventStream extends Readable {
  #isBehind = false;
  #isEnded = false;
  #missedHeartbeats = 0;
  #position: string | undefined;

  constructor() {
    super({ encoding: "utf8", highWaterMark: MAX_BUFFERED_CHARS / 4 });
    this.push("retry: 2000\n\n");
  }

  /**
   * Sends events, unless the client is behind.
   * @param events texts of `formatLiveEvent`
   * @param position where a client resumes that has received all of them
   */
  send(events: readonly string[], position?: string): void {
    this.#position = position ?? this.#position;
    if (this.#isBehind || events.length === 0) return;
    const last = position === undefined ? "" : `id: ${position}\n`;
    this.#write(`${events.join("\n")}${last}\n`);
    this.#isBehind = this.readableLength > MAX_BUFFERED_CHARS;
  }

  /**
   * Sends a heartbeat with the position to resume at, if there is one. Ends the stream when its client has read nothing for
   * `MAX_MISSED_HEARTBEATS`, which frees the buffer.
   */
  sendHeartbeat(position: string | null): void {
    if (this.readableLength === 0) this.#write(position === null ? ":\n\n" : `:\nid: ${position}\n\n`);
    else if (++this.#missedHeartbeats > MAX_MISSED_HEARTBEATS) this.end();
  }

  /** Ends the stream after the buffered events; emits `over` at once. */
  end(): void {
    if (this.#isEnded) return;
    this.#write(null);
    this.#isEnded = true;
    this.emit("over");
  }

  #write(text: string | null): void {
    if (!this.#isEnded && !this.destroyed) this.push(text);
  }

  /** Called by Node when the client has read most of the buffer. */
  override _read(): void {
    this.#missedHeartbeats = 0;
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.send([formatLiveEvent("reload", { reason: "behind" })], this.#position);
  }
}
