/** What a client's slowness keeps in memory: a request whose body is still to come, an answer that is still to be taken. */
interface Held {
  destroy(): unknown;
}

interface Entry {
  /** Null once it is over. */
  one: Held | null;
  readonly bytes: number;
  readonly since: number;
}

const MOST_BYTES = 256 * 1024 * 1024;
const PATIENCE_MS = 5_000;
/** More at a time would keep others waiting. */
const CUT_OFF_AT_ONCE = 8;
/** Entries that are over are cleared away once there are so many more of them than of the others. */
const CLEARED_TOGETHER = 100;

/**
 * Bounds what slow clients keep in memory together: where there is no room for one more, those that have taken longest are
 * cut off. Nobody who is done within the patience is, so that for so long there may be more than the bound.
 */
export class HeldBytes {
  readonly #mostBytes: number;
  readonly #patienceMs: number;
  /** The oldest first. */
  #entries: Entry[] = [];
  #held = 0;
  #bytes = 0;

  constructor({ mostBytes = MOST_BYTES, patienceMs = PATIENCE_MS } = {}) {
    this.#mostBytes = mostBytes;
    this.#patienceMs = patienceMs;
  }

  /** @param bytes at most @returns what is to be called when it is over, however it ended; once or more often */
  hold(one: Held, bytes: number): () => void {
    const entry: Entry = { one, bytes, since: performance.now() };
    this.#entries.push(entry);
    this.#held++;
    this.#bytes += bytes;
    if (this.#bytes > this.#mostBytes) this.#makeRoom(entry);
    return () => this.#letGo(entry);
  }

  #makeRoom(newest: Entry): void {
    const patientSince = newest.since - this.#patienceMs;
    let cutOff = 0;
    for (const entry of this.#entries) {
      const { one, since } = entry;
      if (this.#bytes <= this.#mostBytes || since > patientSince || entry === newest) return;
      if (one === null) continue;
      if (cutOff++ === CUT_OFF_AT_ONCE) return;
      this.#letGo(entry);
      one.destroy();
    }
  }

  #letGo(entry: Entry): void {
    if (entry.one === null) return;
    entry.one = null;
    this.#held--;
    this.#bytes -= entry.bytes;
    if (this.#entries.length < 2 * this.#held + CLEARED_TOGETHER) return;
    this.#entries = this.#entries.filter(({ one }) => one !== null);
  }
}
