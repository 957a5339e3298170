import { getHeapStatistics } from "node:v8";

/** A request whose body is being read, or a response that its client has not read. */
interface Holder {
  destroy(): unknown;
}

interface Reservation {
  readonly holder: Holder;
  readonly bytes: number;
  readonly since: number;
}

/** Default limit of all reservations together: less where the heap is small, because there is little memory besides it. */
const MAX_BYTES = Math.min(256 * 1024 * 1024, getHeapStatistics().heap_size_limit / 4);
/** Default time during which a holder is never destroyed. */
const GRACE_MS = 5_000;
/** Maximum holders that one reservation destroys, so that it does not delay other requests. */
const MAX_DESTROYED_AT_ONCE = 8;

/**
 * Limits the memory that slow clients occupy together. A reservation that exceeds the limit destroys the oldest holders,
 * but none within its grace period: the limit can be exceeded for that long.
 */
export class MemoryBudget {
  readonly #maxBytes: number;
  readonly #graceMs: number;
  /** In insertion order: the oldest first. */
  readonly #reservations = new Set<Reservation>();
  #bytes = 0;

  constructor({ maxBytes = MAX_BYTES, graceMs = GRACE_MS } = {}) {
    this.#maxBytes = maxBytes;
    this.#graceMs = graceMs;
  }

  /**
   * Reserves memory, and destroys older holders when the limit is exceeded.
   * @param bytes maximum size that the holder can occupy
   * @returns a function that releases the reservation; further calls have no effect
   */
  reserve(holder: Holder, bytes: number): () => void {
    const reservation = { holder, bytes, since: performance.now() };
    this.#reservations.add(reservation);
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#makeRoomFor(reservation);
    return () => this.#release(reservation);
  }

  #makeRoomFor(newest: Reservation): void {
    let destroyed = 0;
    for (const reservation of this.#reservations) {
      const isWithinGrace = reservation.since > newest.since - this.#graceMs;
      if (this.#bytes <= this.#maxBytes || isWithinGrace || reservation === newest) return;
      if (destroyed++ === MAX_DESTROYED_AT_ONCE) return;
      this.#release(reservation);
      reservation.holder.destroy();
    }
  }

  #release(reservation: Reservation): void {
    if (this.#reservations.delete(reservation)) this.#bytes -= reservation.bytes;
  }
}
