/**
 * Resolves or rejects as `answer` does, or rejects after `timeoutMs`, so that a server that hangs blocks no caller. A later
 * answer is ignored.
 * @param server the name of the server for the error's message
 */
export async function withTimeout<T>(answer: Promise<T>, timeoutMs: number, server = "Redis"): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${server} does not answer`)), timeoutMs);
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs work with a signal that aborts with the reason of the first source that aborts, or with a TimeoutError after
 * `timeoutMs`. The listeners on the sources are removed when the work has ended, so that the sources may outlive it.
 *
 * AbortSignal.any suits only sources that end with the work. It leaks memory on a source that lives on: Node 22 keeps 2 KB
 * for each call for ever, and Node 24 keeps 1 to 2 KB for each combined signal that still has a listener.
 * @param timeoutMs no limit when undefined
 */
export async function withDeadline<T>(
  sources: readonly AbortSignal[],
  timeoutMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const follow = () => controller.abort(sources.find(({ aborted }) => aborted)?.reason);
  for (const source of sources) source.addEventListener("abort", follow);
  if (sources.some(({ aborted }) => aborted)) follow();
  const onTimeout = () => controller.abort(new DOMException("The time is up.", "TimeoutError"));
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs).unref();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    for (const source of sources) source.removeEventListener("abort", follow);
  }
}
