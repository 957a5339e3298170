import type { MissingValue } from "../records/runs.ts";

/** Returns the sentence about placeholders without a value, for the command line and the page; null if there are none. */
export function describeMissing(missing: readonly MissingValue[] = []): string | null {
  if (missing.length === 0) return null;
  const paths = missing.map(({ path, didYouMean }) => (didYouMean ? `${path} (did you mean ${didYouMean}?)` : path));
  return `${missing.length === 1 ? "1 placeholder" : `${missing.length} placeholders`} had no value: ${paths.join(", ")}`;
}
