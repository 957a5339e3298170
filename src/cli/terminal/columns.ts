import stringWidth from "string-width";

const graphemes = new Intl.Segmenter();

/** How wide the terminal is, and no limit where the output goes elsewhere. */
export const outputWidth = (): number =>
  process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;

/** The text in no more than so many columns, with `…` in place of what is left out. */
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
