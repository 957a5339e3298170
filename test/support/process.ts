import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { finished } from "node:stream/promises";

export interface Service {
  readonly child: ChildProcess;
  /** Resolves with its message when it is ready; rejects if it exits first. */
  readonly ready: Promise<{ url: string }>;
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Returns its output so far. */
  output(): { stdout: string; stderr: string };
  /** Sends a signal and waits for its exit. */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
}

/** Node's compile cache, if one is set: it halves the start time of a process. */
const { PATH = "", NODE_COMPILE_CACHE } = process.env;
const KEPT = { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };

/**
 * Starts a process of the service as an operator would, with only the given environment.
 * @param options `execArgv`: options of Node; `cwd`: where it runs
 */
export function startProcess(
  main: string,
  env: Record<string, string>,
  args: readonly string[] = [],
  { execArgv = [], cwd }: { readonly execArgv?: readonly string[]; readonly cwd?: string } = {},
): Service {
  const child = spawn(process.execPath, [...execArgv, main, ...args], {
    cwd,
    env: { ...KEPT, HOST: "127.0.0.1", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      printed[name] += chunk;
    });
  }
  // Not "close", which is never emitted once the parent has disconnected.
  const printing = [child.stdout, child.stderr].map((stream) => stream && finished(stream));
  const ended = Promise.all([once(child, "exit"), ...printing]).then(
    ([[code, signal]]) => (code ?? signal) as number | string,
  );
  const ready = new Promise<{ url: string }>((resolve, reject) => {
    child.on("message", (message: { ready: { url: string } }) => resolve(message.ready));
    void ended.then((how) => reject(new Error(`ended with ${how} before it was ready: ${printed.stderr}`)));
  });
  ready.catch(() => {}); // Callers that wait for it get the error.
  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return ended;
  };
  return { child, ready, ended, output: () => printed, stop };
}
