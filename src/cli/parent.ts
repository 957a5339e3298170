const LOOK_EVERY_MS = 200;

/**
 * npm passes a signal on, but a kill -9 it cannot: when the npm that started this process is gone, this process is asked
 * to stop. So it is when the terminal is closed.
 */
export function followParent(env: NodeJS.ProcessEnv): void {
  const stop = () => process.kill(process.pid, "SIGTERM");
  process.on("SIGHUP", stop);
  if (!env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, LOOK_EVERY_MS);
  timer.unref();
}
