import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { finished } from "node:stream/promises";

export interface Service {
  readonly child: ChildProcess;
  /** What it said when it was ready; rejects when it ended before. */
  readonly ready: Promise<{ url: string }>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Everything printed so far. */
  output(): { stdout: string; stderr: string };
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
}

/** Where Node keeps what it has compiled, if anywhere: with it a process takes half the time to start. */
const { PATH = "", NODE_COMPILE_CACHE } = process.env;
const KEPT = { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };

/** Runs one of our processes as an operator would, with nothing else of this environment but what is given. */
export function startProcess(main: string, env: Record<string, string>, args: readonly string[] = []): Service {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...KEPT, HOST: "127.0.0.1", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      printed[name] += chunk;
    });
  }
  // Not "close": that never comes once the parent has disconnected.
  const printing = [child.stdout, child.stderr].map((stream) => stream && finished(stream));
  const ended = Promise.all([once(child, "exit"), ...printing]).then(
    ([[code, signal]]) => (code ?? signal) as number | string,
  );
  const ready = new Promise<{ url: string }>((resolve, reject) => {
    child.on("message", (message: { ready: { url: string } }) => resolve(message.ready));
    void ended.then((how) => reject(new Error(`ended with ${how} before it was ready: ${printed.stderr}`)));
  });
  ready.catch(() => {}); // whoever waits for it sees it
  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return ended;
  };
  return { child, ready, ended, output: () => printed, stop };
}
