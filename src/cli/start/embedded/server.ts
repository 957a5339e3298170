import { spawn } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { signalGroup } from "../../../shared/process/processGroup.ts";
import type { Running } from "../supervised.ts";

/**
 * A shell script that runs a server which never outlives this process. The script's standard input is a pipe from this
 * process. When the pipe closes, which even a kill -9 causes, the script sends SIGTERM to the server. The script ends when
 * the server has ended, with its exit code.
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
  /** The leader of the server's process group. */
  readonly pid: number;
  /** Returns the exit code, or null while the server runs. */
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
  child.stdin.on("error", () => {}); // the shell ended first, which `exited` reports
  const pid = child.pid ?? 0;
  return {
    pid,
    exited,
    exitCode: () => child.exitCode,
    stop: async () => {
      child.stdin.end();
      await waitOrKill(exited, stopWithinMs, pid);
    },
  };
}

/** Waits for a process to end, and kills its process group if that takes too long. */
export async function waitOrKill(exited: Promise<unknown>, withinMs: number, pid: number): Promise<void> {
  const timer = new AbortController();
  const tooLong = delay(withinMs, true, { signal: timer.signal }).catch(() => false);
  if (await Promise.race([exited.then(() => false), tooLong])) signalGroup(pid, "SIGKILL");
  timer.abort();
  await exited;
}

/** Waits until the port accepts connections. Returns false if the server ends before, after `withinMs`, or on an abort. */
export async function waitForPort(
  port: number,
  server: Server,
  withinMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  while (!ended && !signal.aborted && Date.now() < deadline) {
    if (await acceptsConnections(port)) return true;
    await delay(20);
  }
  return false;
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
