/** Polls a condition until it returns a truthy value, and returns that value. Fails after half a minute by default. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  what: string,
  withinMs = 30_000,
  pauseMs = 10,
): Promise<Exclude<T, false | 0 | "" | null | undefined>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen as Exclude<T, false | 0 | "" | null | undefined>;
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await new Promise((next) => setTimeout(next, pauseMs));
  }
}
