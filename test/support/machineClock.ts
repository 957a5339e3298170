/** Sets the machine's clock, as far as this process asks it with `Date.now()`, while something is done. */
export async function withMachineClock<T>(aheadMs: number, act: () => T | Promise<T>): Promise<T> {
  const { now } = Date;
  Date.now = () => now() + aheadMs;
  try {
    return await act();
  } finally {
    Date.now = now;
  }
}
