import { Readable } from "node:stream";

/** What waits for a slow client at most, in characters; beyond that it is told to read everything again. */
const MOST_WAITING = 256 * 1024;
/** So many heart-beats in a row may find that a client has taken nothing of what waits for it. */
const MOST_MISSED_BEATS = 3;

/** One event in the words of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export const eventText = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n`;

/**
 * A client's stream of events. A client that does not keep up gets no more of them until it has taken what waits, and then
 * a `reload`: nothing is kept for it without bound.
 */
export class EventStream extends Readable {
  #isBehind = false;
  #isOver = false;
  #missedBeats = 0;
  #position: string | undefined;

  constructor() {
    super({ encoding: "utf8", highWaterMark: MOST_WAITING / 4 });
    this.push("retry: 2000\n\n");
  }

  /** @param events as `eventText` gives them; `position` is where a client resumes that has all of them */
  send(events: readonly string[], position?: string): void {
    this.#position = position ?? this.#position;
    if (this.#isBehind || events.length === 0) return;
    const last = position === undefined ? "" : `id: ${position}\n`;
    this.#write(`${events.join("\n")}${last}\n`);
    this.#isBehind = this.readableLength > MOST_WAITING;
  }

  /**
   * Says that the stream lives, and where to resume, if that is known. Ends it where its client has taken nothing for some
   * heart-beats: what waits would be kept for as long as that likes.
   */
  beat(position: string | null): void {
    if (this.readableLength === 0) this.#write(position === null ? ":\n\n" : `:\nid: ${position}\n\n`);
    else if (++this.#missedBeats > MOST_MISSED_BEATS) this.end();
  }

  /** Ends it once its client has taken what waits; `over` is emitted at once. */
  end(): void {
    if (this.#isOver) return;
    this.#write(null);
    this.#isOver = true;
    this.emit("over");
  }

  #write(text: string | null): void {
    if (!this.#isOver && !this.destroyed) this.push(text);
  }

  /** Asked for more: most of what waited has been taken. */
  override _read(): void {
    this.#missedBeats = 0;
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.send([eventText("reload", { reason: "behind" })], this.#position);
  }
}
