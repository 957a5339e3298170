import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

const STOP_TIMEOUT_MS = 10_000;

/** A process of the bench. It is ready when it has sent its first message, `{ ready: … }`. */
export interface Child<Ready> {
  readonly process: ChildProcess;
  readonly ready: Ready;
  /** @throws Error when the process exits first */
  nextMessage(): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Runs a file of this repository as a process that exits with this one. It runs in the temporary directory, so that no
 * configuration file of the current directory changes the measurement.
 * @param execArgv options of Node
 * @throws Error when it exits before it is ready
 */
export async function startChild<Ready>(
  file: URL,
  env: Record<string, string> = {},
  execArgv: readonly string[] = [],
): Promise<Child<Ready>> {
  const { SIGNALBOX_CONFIG: _, ...inherited } = process.env;
  const options = { cwd: tmpdir(), env: { ...inherited, ...env }, execArgv: [...execArgv], silent: true };
  const child = fork(fileURLToPath(file), options);
  for (const output of [child.stdout, child.stderr]) output?.pipe(process.stderr);
  const nextMessage = () => messageOf(child, file.pathname);
  const { ready } = (await nextMessage()) as { ready: Ready };
  return { process: child, ready, nextMessage, stop: () => stop(child) };
}

async function messageOf(child: ChildProcess, name: string): Promise<unknown> {
  const answered = new AbortController();
  const { signal } = answered;
  const ended = once(child, "exit", { signal }).then(([code, by]) => {
    throw new Error(`${name} ended (${by ?? `exit code ${code}`})`);
  });
  try {
    return await Promise.race([once(child, "message", { signal }).then(([message]) => message), ended]);
  } finally {
    answered.abort();
    await ended.catch(() => {});
  }
}

async function stop(child: ChildProcess): Promise<void> {
  // Ctrl-C also ends the servers, and the process would log that it lost them.
  for (const output of [child.stdout, child.stderr]) output?.unpipe().resume();
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await gone;
  clearTimeout(timer);
}
