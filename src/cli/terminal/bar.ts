/** A progress as a bar of so many columns. The last part is filled at 100 and not before. */
export function bar(progress: number, width: number): string {
  const filled = Math.floor((Math.min(100, Math.max(0, progress)) / 100) * width);
  return "█".repeat(filled) + "░".repeat(width - filled);
}
