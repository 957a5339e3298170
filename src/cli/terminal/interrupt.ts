import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface SignalSource {
  on(name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): unknown;
  off(name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): unknown;
}

/** Where signals come from; a command that runs inside another program has a source of its own. */
export const interrupts: { source: SignalSource } = { source: process };

/** Does what lasts until it ends or is interrupted: the signal then fires, and the process ends as shells expect. */
export async function untilInterrupted(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { source } = interrupts;
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    process.exitCode = 128 + constants.signals[name];
    controller.abort();
  };
  for (const name of SIGNALS) source.on(name, stop);
  try {
    await act(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
  } finally {
    for (const name of SIGNALS) source.off(name, stop);
  }
}
