import { setTimeout as delay } from "node:timers/promises";
import { backoff } from "../../shared/backoff.ts";
import type { Lifecycle } from "../../shared/process/lifecycle.ts";

/** A running process that is ready. */
export interface Running {
  /** Resolves when it has ended, with the kind of its end: `exit code 1`, `SIGKILL`. */
  readonly exited: Promise<string>;
  /** Stops it gracefully, or kills it if that takes too long. */
  stop(): Promise<void>;
  /** Makes it read its configuration again. @returns why the previous one stays in effect; undefined if the changed one is */
  reload?(): Promise<string | undefined>;
}

export interface SupervisedOptions<R extends Running> {
  readonly name: string;
  /** Starts the process; resolves when it is ready and rejects if it ends before. Ends the process on an abort. */
  readonly launch: (signal: AbortSignal) => Promise<R>;
  /** Whether to start the process again after an unexpected end, instead of waiting for `restart`. Default true. */
  readonly restartOnExit?: boolean;
}

/** Creates a supervised process, not started yet, that is stopped when the lifecycle closes. */
export function supervise<R extends Running>(options: SupervisedOptions<R>, lifecycle: Lifecycle): Supervised<R> {
  const supervised = new Supervised(options);
  lifecycle.onClose(options.name, () => supervised.stop());
  return supervised;
}

const restartDelayMs = backoff({ initialMs: 1_000, maxMs: 30_000 });
/** Uptime after which the delay starts again at its initial value. */
const STABLE_MS = 60_000;

/**
 * Keeps one process running from `start` to `stop`. After an unexpected end it is started again, with growing delays.
 *
 * States: starting (`#launching` is pending), running (`#running` is set), waiting (for the delay or for `restart`),
 * stopped (`#stopped` is aborted).
 */
export class Supervised<R extends Running> {
  readonly #options: SupervisedOptions<R>;
  readonly #stopped = new AbortController();
  #wake = new AbortController();
  #restart = false;
  #running: R | undefined;
  #launching: Promise<R> | undefined;

  constructor(options: SupervisedOptions<R>) {
    this.#options = options;
  }

  /** The process, if it runs. */
  get running(): R | undefined {
    return this.#running;
  }

  /**
   * Starts the process for the first time. A failure rejects; later failures are retried. The promise never settles if
   * `stop` is called meanwhile.
   */
  async start(): Promise<R> {
    const running = await this.#launch();
    void this.#watch(running);
    return running;
  }

  /** Stops the process, even while it starts, and starts it again at once. */
  async restart(): Promise<void> {
    this.#restart = true;
    this.#wake.abort();
    const running = await this.#launching?.catch(() => undefined);
    await running?.stop();
  }

  /** Makes the process read its configuration again if it runs. @returns why the previous one stays in effect */
  async reload(): Promise<string | undefined> {
    return this.#running?.reload?.();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake.abort();
    await this.#launching?.catch(() => {});
    await this.#running?.stop();
  }

  async #launch(): Promise<R> {
    this.#launching = this.#options.launch(this.#stopped.signal);
    try {
      this.#running = await this.#launching;
    } catch (error) {
      if (!this.#stopped.signal.aborted) throw error;
    }
    if (this.#stopped.signal.aborted) return new Promise(() => {});
    return this.#running as R;
  }

  async #watch(first: R): Promise<void> {
    const { name, restartOnExit = true } = this.#options;
    let running: R | undefined = first;
    let exits = 0;
    while (!this.#stopped.signal.aborted) {
      const since = Date.now();
      const end: string = running ? await running.exited : "";
      this.#running = undefined;
      if (this.#stopped.signal.aborted) return;
      if (!this.#restart) {
        if (Date.now() - since > STABLE_MS) exits = 0;
        if (running) {
          console.error(
            `${name} ended unexpectedly (${end}). ${restartOnExit ? "It is restarted" : "It is restarted after the next change of a file"}.`,
          );
        }
        this.#wake = new AbortController();
        const delayMs = restartOnExit ? restartDelayMs(++exits) : 2 ** 31 - 1;
        await delay(delayMs, undefined, { signal: this.#wake.signal }).catch(() => {});
      }
      this.#restart = false;
      running = await this.#launch().catch((error: Error) => {
        console.error(`${name} could not be restarted: ${error.message}`);
        return undefined;
      });
    }
  }
}
