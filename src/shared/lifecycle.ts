/** A start that cannot go on. The message is for the person at the terminal: what is wrong and what to do. */
export class StartError extends Error {
  override name = "StartError";
}

/** What a process has open, closed in the reverse order of its opening. */
export class Lifecycle {
  readonly #closers: { name: string; close: () => Promise<unknown> }[] = [];
  #closing: Promise<void> | undefined;

  onClose(name: string, close: () => Promise<unknown>): void {
    this.#closers.push({ name, close });
  }

  /** Closes everything once, however often it is called. A closer that fails does not keep the others from closing. */
  close(onError: (name: string, error: unknown) => void = () => {}): Promise<void> {
    this.#closing ??= (async () => {
      for (const { name, close } of this.#closers.reverse()) {
        await close().catch((error: unknown) => onError(name, error));
      }
    })();
    return this.#closing;
  }
}

/** What a process that has started says of itself. */
export interface Started {
  /** Told to the process that started it. */
  readonly ready: unknown;
  /** How long a stop may take. */
  readonly deadlineMs: number;
  onError(name: string, error: unknown): void;
  /** Takes a changed configuration up, on SIGHUP; never rejects. Without it SIGHUP is let pass. */
  reload?(): Promise<void>;
}

/**
 * Runs a process: starts it, says so to the process that started it (an IPC message `{ ready: … }`), and stops it on
 * SIGTERM, SIGINT, or when that process is gone. SIGHUP has it read its configuration again. A StartError is printed as its
 * sentence alone. A second signal (from a person: terminal and npm may each send the first one), or a stop that takes longer
 * than `deadlineMs`, ends the process at once.
 */
export async function runProcess(start: (lifecycle: Lifecycle) => Promise<Started>): Promise<void> {
  process.report.excludeEnv = true; // a report of a crash, where NODE_OPTIONS asks for it, needs no secrets
  const lifecycle = new Lifecycle();
  let deadlineMs = 10_000;
  let onError: (name: string, error: unknown) => void = () => {};
  let stoppingSince: number | undefined;
  const stop = async (code: number) => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > 1_000) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    setTimeout(() => process.exit(1), deadlineMs).unref();
    await lifecycle.close(onError);
    process.exit(code);
  };
  process.on("SIGTERM", () => void stop(0));
  process.on("SIGINT", () => void stop(0));
  process.on("disconnect", () => void stop(0));
  if (process.connected === false) return stop(0); // who started it was gone before this could be heard
  let reload = async () => {};
  let isReloadWanted = false;
  let reloading = Promise.resolve();
  process.on("SIGHUP", () => {
    if (stoppingSince !== undefined) return;
    isReloadWanted = true;
    reloading = reloading.then(() => reload());
  });
  try {
    const started = await start(lifecycle);
    ({ deadlineMs, onError } = started);
    reload = async () => {
      if (stoppingSince === undefined) await started.reload?.();
    };
    if (isReloadWanted) reloading = reload(); // the file may have changed since it was read
    process.send?.({ ready: started.ready });
  } catch (error) {
    if (stoppingSince !== undefined) return; // what it was about to use is being closed
    process.stderr.write(error instanceof StartError ? `${error.message}\n` : `${(error as Error).stack ?? error}\n`);
    await stop(1);
  }
}
