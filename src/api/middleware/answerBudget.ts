import type { ServerResponse } from "node:http";
import { getHeapStatistics } from "node:v8";
import { AppError } from "../../shared/errors.ts";

/** Default limit of all large reads and unsent large responses together: less where the heap is small. */
const MAX_BYTES = Math.min(256 * 1024 * 1024, getHeapStatistics().heap_size_limit / 4);
/** The bytes that a large read reserves until its size is known: the outputs in one response have up to 64 MiB. */
const READ_BYTES = 64 * 1024 * 1024;
/** Responses below this size reserve nothing once they are read. */
const LARGE_BYTES = 256 * 1024;
/** A response takes its text and the bytes of it that are sent. */
const COPIES = 2;
/** Time during which the receiver of a response is never cut off. */
const GRACE_MS = 5_000;
/** Maximum wait for memory. It is longer than the grace period, so that no slow client blocks a read. */
const MAX_WAIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 5;

/** Memory that a read or a response occupies. */
export interface Reservation {
  /** Reserves what a response needs until it is sent; nothing if it is small. */
  send(json: string, res: ServerResponse): void;
  release(): void;
}

interface Held {
  bytes: number;
  /** The response that is being sent; undefined while it is read. */
  res?: ServerResponse;
  since: number;
}

interface Waiter {
  readonly bytes: number;
  readonly grant: () => void;
}

/**
 * Limits the memory of large reads, from their start until the response is sent. What does not fit waits its turn, and is
 * answered with 503 after `maxWaitMs`. While something waits, responses whose clients read them for longer than the grace
 * period are cut off, the oldest first.
 */
export class AnswerBudget {
  readonly #limits: { readonly maxBytes: number; readonly graceMs: number; readonly maxWaitMs: number };
  /** In insertion order: the oldest first. */
  readonly #held = new Set<Held>();
  readonly #waiting: Waiter[] = [];
  #bytes = 0;

  constructor({ maxBytes = MAX_BYTES, graceMs = GRACE_MS, maxWaitMs = MAX_WAIT_MS } = {}) {
    this.#limits = { maxBytes, graceMs, maxWaitMs };
  }

  /** The number of reads and responses that wait for memory. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Waits for the memory of a large read. @throws AppError unavailable */
  reserveRead(): Promise<Reservation> {
    return this.#reserve(READ_BYTES);
  }

  /** Waits for the memory of a response that was read without a reservation, if it is large. @throws AppError unavailable */
  async reserveAnswer(json: string, res: ServerResponse): Promise<void> {
    if (json.length < LARGE_BYTES) return;
    (await this.#reserve(json.length * COPIES)).send(json, res);
  }

  #reserve(bytes: number): Promise<Reservation> {
    const fits = this.#waiting.length === 0 && this.#fits(bytes);
    return fits ? Promise.resolve(this.#hold(bytes)) : this.#wait(bytes);
  }

  /** A single read always fits, however large it is. */
  #fits(bytes: number): boolean {
    return this.#held.size === 0 || this.#bytes + bytes <= this.#limits.maxBytes;
  }

  #hold(bytes: number): Reservation {
    const held: Held = { bytes, since: performance.now() };
    this.#held.add(held);
    this.#bytes += bytes;
    const release = () => {
      if (!this.#held.delete(held)) return;
      this.#bytes -= held.bytes;
      this.#grant();
    };
    return {
      release,
      send: (json, res) => {
        if (json.length < LARGE_BYTES || res.closed) return release();
        this.#held.delete(held); // The newest response is the last to be cut off.
        this.#bytes += json.length * COPIES - held.bytes;
        this.#held.add(Object.assign(held, { bytes: json.length * COPIES, res, since: performance.now() }));
        res.once("close", release);
        this.#grant();
      },
    };
  }

  #wait(bytes: number): Promise<Reservation> {
    const { graceMs, maxWaitMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        clearInterval(cutter);
      };
      const grant = () => {
        end();
        resolve(this.#hold(bytes));
      };
      const waiter: Waiter = { bytes, grant };
      const cutter = setInterval(() => this.#cutOffSlowest(), graceMs / 2);
      const timer = setTimeout(() => {
        end();
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(spent());
        this.#grant(); // a smaller one behind it may fit
      }, maxWaitMs);
      this.#waiting.push(waiter);
      this.#cutOffSlowest();
    });
  }

  /** Grants what fits to those that wait, in order. */
  #grant(): void {
    for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      next.grant();
    }
  }

  #cutOffSlowest(): void {
    const isOver = (held: Held) => held.since <= performance.now() - this.#limits.graceMs;
    const slowest = [...this.#held].find((held) => held.res && isOver(held));
    slowest?.res?.destroy();
  }
}

const spent = (): AppError =>
  new AppError("unavailable", {
    detail: "Too many large responses are being read and sent. Send the same request again, or read the rows in pages.",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
