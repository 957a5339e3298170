import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

const STOPS_WITHIN_MS = 10_000;

/** A process of the bench. It is ready when its first message has come: `{ ready: … }`. */
export interface Child<Ready> {
  readonly process: ChildProcess;
  readonly ready: Ready;
  /** @throws Error when the process ends first */
  nextMessage(): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Runs a file of this repository as a process that ends with this one. It works in the temporary directory, so that no
 * configuration lying about changes what is measured.
 * @param execArgv options of Node
 * @throws Error when it ends before it is ready
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
  // After Ctrl-C, which reaches the servers too, it would complain that they are gone.
  for (const output of [child.stdout, child.stderr]) output?.unpipe().resume();
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOPS_WITHIN_MS);
  await gone;
  clearTimeout(timer);
}
