/**
 * Polls a condition until it returns a truthy value, and returns that value. Fails after a minute by default, which a
 * loaded machine may need.
 */
export async function eventually<T>(
  look: () => Promise<T> | T,
  what: string,
  withinMs = 60_000,
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

/**
 * Repeats an assertion until it passes. Fails after a minute by default with the last error. A page shows the consequence
 * of an action some time after the action has ended, so a test of a page reads its state with this.
 */
export async function untilPasses(assert: () => Promise<unknown>, withinMs = 60_000, pauseMs = 10): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      await assert();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await new Promise((next) => setTimeout(next, pauseMs));
  }
}
