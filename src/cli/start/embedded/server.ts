import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "../../../shared/lifecycle.ts";
import type { Running } from "../supervised.ts";

/**
 * Runs a server that never outlives this process: its standard input is a pipe from here, and the end of that pipe, which
 * even a kill -9 brings about, sends it SIGTERM. The shell ends when the server has ended, with its exit code.
 */
const WATCHER = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
( while read -r _ <&3; do :; done; kill -TERM "$server" ) 2>/dev/null &
lifeline=$!
exec 3<&-
trap : TERM
while wait "$server"; code=$?; kill -0 "$server" 2>/dev/null; do :; done
kill "$lifeline" 2>/dev/null
exit "$code"
`;

export interface Server extends Running {
  /** The leader of its process group. */
  readonly pid: number;
  /** Set once it has ended. */
  readonly exitCode: () => number | null;
}

/** Starts a server in a process group of its own, so that Ctrl-C in a terminal does not reach it. */
export function spawnServer(binary: string, args: readonly string[], stopWithinMs: number): Server {
  const child = spawn("/bin/sh", ["-c", WATCHER, "sh", binary, ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => {
      child.stdin.destroy();
      resolve(signal ?? `exit code ${code}`);
    });
  });
  child.stdin.on("error", () => {}); // the shell ended first; `exited` tells
  const pid = child.pid ?? 0;
  return {
    pid,
    exited,
    exitCode: () => child.exitCode,
    stop: async () => {
      child.stdin.end();
      await endsWithin(exited, stopWithinMs, pid);
    },
  };
}

/** Waits for a process to end; when that takes too long, kills its process group. */
export async function endsWithin(exited: Promise<unknown>, withinMs: number, pid: number): Promise<void> {
  const timer = new AbortController();
  const tooLong = delay(withinMs, true, { signal: timer.signal }).catch(() => false);
  if (await Promise.race([exited.then(() => false), tooLong])) killGroup(pid);
  timer.abort();
  await exited;
}

export function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}

/** Resolves to true when the port answers, to false when the server ends before, the time is up, or `signal` fires. */
export async function listens(port: number, server: Server, withinMs: number, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  while (!ended && !signal.aborted && Date.now() < deadline) {
    if (await answers(port)) return true;
    await delay(20);
  }
  return false;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/**
 * Where the set-up has put a server's program.
 * @throws StartError when it is not there
 */
export function programPath(name: string, variable: string): string {
  const path = join(import.meta.dirname, "..", "..", "..", "..", ".tools", "bin", name);
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    throw new StartError(
      `There is no ${name} in .tools/bin: run \`node script/bootstrap.mjs start\`, which fetches it, or name a running server in ${variable}.`,
    );
  }
}
