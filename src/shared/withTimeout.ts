/** A server that hangs holds nobody up. Rejects when there is no answer in time; what comes later is let pass. */
export async function withTimeout<T>(answer: Promise<T>, withinMs: number, who = "Redis"): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${who} does not answer`)), withinMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
