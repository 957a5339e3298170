import stringWidth from "string-width";

const graphemes = new Intl.Segmenter();

/** Returns the width of the terminal in columns, or infinity if the output is not a terminal. */
export const outputWidth = (): number =>
  process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;

/** Truncates a text to at most `width` columns, with `…` at the cut. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  let used = 1; // of the …
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return width < 1 ? "" : `${kept}…`;
}
