import { setTimeout as delay } from "node:timers/promises";
import type { Lifecycle } from "../../shared/lifecycle.ts";

/** A process that is ready. */
export interface Running {
  /** Resolves when it has ended, with how: `exit code 1`, `SIGKILL`. */
  readonly exited: Promise<string>;
  /** Stops it gently, and by force when that takes too long. */
  stop(): Promise<void>;
  signal?(name: NodeJS.Signals): void;
}

export interface SupervisedOptions<R extends Running> {
  readonly name: string;
  /** Starts the process; resolves when it is ready, rejects when it ends before. Ends what it began when `signal` fires. */
  readonly launch: (signal: AbortSignal) => Promise<R>;
  /** False: after an unexpected end wait for `restart` (someone is editing the source). Default true. */
  readonly revive?: boolean;
}

/** A process that is stopped when the lifecycle closes; it is not started yet. */
export function supervise<R extends Running>(options: SupervisedOptions<R>, lifecycle: Lifecycle): Supervised<R> {
  const supervised = new Supervised(options);
  lifecycle.onClose(options.name, () => supervised.stop());
  return supervised;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const STABLE_MS = 60_000;

/** Keeps one process running from `start` to `stop`: when it ends in between it is started again, after growing pauses. */
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

  /**
   * The first launch: its failure is the caller's, later ones are tried again. Never settles when `stop` is called
   * meanwhile.
   */
  async start(): Promise<R> {
    const running = await this.#launch();
    void this.#watch(running);
    return running;
  }

  /** Stops the process, also one that is just starting, and starts it again at once. */
  async restart(): Promise<void> {
    this.#restart = true;
    this.#wake.abort();
    const running = await this.#launching?.catch(() => undefined);
    await running?.stop();
  }

  /** Signals the process, where it runs. */
  signal(name: NodeJS.Signals): void {
    this.#running?.signal?.(name);
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
    const { name, revive = true } = this.#options;
    let running: R | undefined = first;
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#stopped.signal.aborted) {
      const since = Date.now();
      const end: string = running ? await running.exited : "";
      this.#running = undefined;
      if (this.#stopped.signal.aborted) return;
      if (!this.#restart) {
        if (Date.now() - since > STABLE_MS) pauseMs = FIRST_PAUSE_MS;
        if (running) {
          console.error(
            `${name} ended unexpectedly (${end}); ${revive ? "it is started again" : "waiting for a change"}.`,
          );
        }
        this.#wake = new AbortController();
        await delay(revive ? pauseMs : 2 ** 31 - 1, undefined, { signal: this.#wake.signal }).catch(() => {});
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
      this.#restart = false;
      running = await this.#launch().catch((error: Error) => {
        console.error(`${name} could not be started again: ${error.message}`);
        return undefined;
      });
    }
  }
}
