/** What a client's slowness keeps in memory: a request whose body is still to come, an answer that is still to be taken. */
interface Held {
  destroy(): unknown;
}

const MOST_BYTES = 256 * 1024 * 1024;
const PATIENCE_MS = 5_000;
/** More at a time would keep others waiting. */
const CUT_OFF_AT_ONCE = 8;

/**
 * Bounds what slow clients keep in memory together: where there is no room for one more, those that have taken longest are
 * cut off. Nobody who is done within the patience is, so that for so long there may be more than the bound.
 */
export class HeldBytes {
  readonly #mostBytes: number;
  readonly #patienceMs: number;
  /** The oldest first. */
  readonly #held = new Map<Held, { readonly bytes: number; readonly since: number }>();
  #bytes = 0;

  constructor({ mostBytes = MOST_BYTES, patienceMs = PATIENCE_MS } = {}) {
    this.#mostBytes = mostBytes;
    this.#patienceMs = patienceMs;
  }

  /** @param bytes at most; `letGo` is called when it is over, however it ended */
  hold(one: Held, bytes: number): void {
    this.#held.set(one, { bytes, since: performance.now() });
    this.#bytes += bytes;
    const patientSince = performance.now() - this.#patienceMs;
    let cutOff = 0;
    for (const [oldest, { since }] of this.#held) {
      if (this.#bytes <= this.#mostBytes || since > patientSince || oldest === one) return;
      if (cutOff++ === CUT_OFF_AT_ONCE) return;
      this.letGo(oldest);
      oldest.destroy();
    }
  }

  letGo(one: Held): void {
    this.#bytes -= this.#held.get(one)?.bytes ?? 0;
    this.#held.delete(one);
  }
}
