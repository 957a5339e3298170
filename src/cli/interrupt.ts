import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Does what lasts until it ends or is interrupted: the signal then fires, and the process ends as shells expect. */
export async function untilInterrupted(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    process.exitCode = 128 + constants.signals[name];
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, stop);
  try {
    await act(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
  } finally {
    for (const name of SIGNALS) process.off(name, stop);
  }
}
