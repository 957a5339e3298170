import { closeSync, openSync } from "node:fs";
import { commandLine, parentOf } from "./processInfo.ts";

const POLL_MS = 200;

/**
 * Sends SIGTERM to this process when the npm that started it has ended, or when its terminal was closed. npm passes signals
 * on, but cannot pass on a kill -9. A closed terminal causes a SIGHUP; any other SIGHUP reloads the configuration.
 */
export function stopWithParent(env: NodeJS.ProcessEnv): void {
  const stop = () => process.kill(process.pid, "SIGTERM");
  const hadTerminal = hasTerminal();
  process.on("SIGHUP", () => {
    if (hadTerminal && !hasTerminal()) stop();
  });
  if (!env.npm_lifecycle_event) return;
  const parent = process.ppid;
  // npm runs a script in a shell, which either waits for this process or has replaced itself by it.
  const npm = /^\S*sh -c /.test(commandLine(parent)) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || exists(npm))) return;
    clearInterval(timer);
    stop();
  }, POLL_MS);
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
