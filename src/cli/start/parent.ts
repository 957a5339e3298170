import { closeSync, openSync } from "node:fs";
import { commandLine, parentOf } from "./processInfo.ts";

const LOOK_EVERY_MS = 200;

/**
 * npm passes a signal on, but a kill -9 it cannot: when the npm that started this process is gone, this process is asked
 * to stop. So it is when its terminal is closed, of which SIGHUP tells; any other SIGHUP is for the configuration.
 */
export function followParent(env: NodeJS.ProcessEnv): void {
  const stop = () => process.kill(process.pid, "SIGTERM");
  const hadTerminal = hasTerminal();
  process.on("SIGHUP", () => {
    if (hadTerminal && !hasTerminal()) stop();
  });
  if (!env.npm_lifecycle_event) return;
  const parent = process.ppid;
  // npm runs a script by a shell, which may have made place for this process or wait for it
  const npm = /^\S*sh -c /.test(commandLine(parent)) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || exists(npm))) return;
    clearInterval(timer);
    stop();
  }, LOOK_EVERY_MS);
  timer.unref();
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
