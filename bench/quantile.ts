/** @param sorted ascending values, at least one */
export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}

export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** Returns the median of each figure over the turns. */
export const medians = <K extends string>(turns: readonly Readonly<Record<K, number>>[], keys: readonly K[]) =>
  Object.fromEntries(keys.map((key) => [key, median(turns.map((turn) => turn[key]))])) as Record<K, number>;
