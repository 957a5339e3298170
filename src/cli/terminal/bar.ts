/** Returns a progress bar of `width` columns. The last column is filled only at 100. */
export function bar(progress: number, width: number): string {
  const filled = Math.floor((Math.min(100, Math.max(0, progress)) / 100) * width);
  return "█".repeat(filled) + "░".repeat(width - filled);
}
