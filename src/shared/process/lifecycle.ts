import { releaseMemoryWhenIdle } from "./releaseMemory.ts";

/** An error that ends the start of a process. The message names the problem and the remedy, for the person at the terminal. */
export class StartError extends Error {
  override name = "StartError";
}

/** Collects the resources of a process and closes them in the reverse order. */
export class Lifecycle {
  readonly #closers: { name: string; close: () => Promise<unknown> }[] = [];
  #closing: Promise<void> | undefined;

  onClose(name: string, close: () => Promise<unknown>): void {
    this.#closers.push({ name, close });
  }

  /** Closes everything once, however often it is called. A failure does not keep the others from closing. */
  close(onError: (name: string, error: unknown) => void = () => {}): Promise<void> {
    this.#closing ??= (async () => {
      for (const { name, close } of this.#closers.reverse()) {
        await close().catch((error: unknown) => onError(name, error));
      }
    })();
    return this.#closing;
  }
}

/** The result of a successful start. */
export interface Started {
  /** Sent to the parent process. */
  readonly ready: unknown;
  /** Maximum duration of a stop. */
  readonly deadlineMs: number;
  onError(name: string, error: unknown): void;
  /**
   * Applies a changed configuration on SIGHUP; never rejects. Without this function SIGHUP is ignored.
   * @returns why the previous configuration stays in effect; undefined if the changed one is
   */
  reload?(): Promise<string | undefined>;
}

/**
 * Runs a process. It starts, sends its parent the IPC message `{ ready: … }`, and stops on SIGTERM, SIGINT, or when the
 * parent is gone. SIGHUP reloads the configuration, and the IPC message `{ reloaded: … }` has the outcome. A StartError is
 * printed as its message alone. A further signal more than a second after the first ends the process at once (terminal and
 * npm may each send the first one), and so does a stop that takes longer than `deadlineMs`.
 */
export async function runProcess(start: (lifecycle: Lifecycle) => Promise<Started>): Promise<void> {
  process.report.excludeEnv = true; // NODE_OPTIONS may enable crash reports, which must not contain secrets
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
  if (process.connected === false) return stop(0); // the parent was gone before the listener existed
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
    const stopReleasing = releaseMemoryWhenIdle();
    lifecycle.onClose("memory", async () => stopReleasing());
    reload = async () => {
      if (stoppingSince !== undefined) return;
      const problem = await started.reload?.();
      process.send?.({ reloaded: problem ?? null });
    };
    if (isReloadWanted) reloading = reload(); // the file may have changed since the start read it
    process.send?.({ ready: started.ready });
  } catch (error) {
    if (stoppingSince !== undefined) return; // the start failed because its connections are being closed
    process.stderr.write(error instanceof StartError ? `${error.message}\n` : `${(error as Error).stack ?? error}\n`);
    await stop(1);
  }
}
