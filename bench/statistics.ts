/** @param sorted ascending values, at least one */
export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}

export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** A linear trend by least squares. */
export interface Trend {
  /** The change of the second coordinate per unit of the first. */
  readonly slope: number;
  /** Standard error of the slope. */
  readonly error: number;
}

/** @param points at least three, with different first coordinates */
export function trendOf(points: readonly (readonly [number, number])[]): Trend {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / (points.length - 2) / spread) };
}

/**
 * Whether a trend is significant (two standard errors above 0) and exceeds the allowed growth over the span.
 * @param span the range of the first coordinate
 */
export const grows = ({ slope, error }: Trend, span: number, allowed: number): boolean =>
  slope - 2 * error > 0 && slope * span > allowed;
