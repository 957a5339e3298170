import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface SignalSource {
  on(name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): unknown;
  off(name: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): unknown;
}

/** The source of signals. A command that runs inside another program, such as a test, replaces it. */
export const interrupts: { source: SignalSource } = { source: process };

/** Runs `act` until it ends or is interrupted. An interrupt aborts the signal and sets the exit code that shells expect. */
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
