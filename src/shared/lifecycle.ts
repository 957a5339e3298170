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

/**
 * Runs a process: starts it, says so to the process that started it (an IPC message `{ ready: … }`), and stops it on
 * SIGTERM, SIGINT, or when that process is gone. A StartError is printed as its sentence alone. A second signal (from a
 * person: terminal and npm may each send the first one), or a stop that takes longer than `deadlineMs`, ends the process
 * at once.
 */
export async function runProcess(
  start: (
    lifecycle: Lifecycle,
  ) => Promise<{ ready: unknown; deadlineMs: number; onError(name: string, error: unknown): void }>,
): Promise<void> {
  const lifecycle = new Lifecycle();
  let deadlineMs = 10_000;
  let onError: (name: string, error: unknown) => void = () => {};
  let stoppingSince: number | undefined;
  const stop = async (code: number) => {
    if (stoppingSince !== undefined) {
      if (Date.now() - stoppingSince > 1_000) process.exit(1);
      return;
    }
    stoppingSince = Date.now();
    setTimeout(() => process.exit(1), deadlineMs).unref();
    await lifecycle.close(onError);
    process.exit(code);
  };
  process.on("SIGTERM", () => void stop(0));
  process.on("SIGINT", () => void stop(0));
  process.on("disconnect", () => void stop(0));
  try {
    const started = await start(lifecycle);
    ({ deadlineMs, onError } = started);
    process.send?.({ ready: started.ready });
  } catch (error) {
    process.stderr.write(error instanceof StartError ? `${error.message}\n` : `${(error as Error).stack ?? error}\n`);
    await stop(1);
  }
}
