import { isPair } from "./measure.ts";

/** The kinds of places where a text may be split between messages, best first. */
export type Boundary = "paragraph" | "line" | "sentence" | "word" | "grapheme" | "rune";

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Number of UTF-16 units after a place that may decide whether it is a boundary: the rest of an emoji, a space after a stop. */
const LOOKAHEAD = 64;

/** Returns the last boundary of a kind after `from` and at or before `to`; undefined if there is none. */
export function lastBoundary(text: string, from: number, to: number, kind: Boundary): number | undefined {
  if (to >= text.length) return to;
  const boundary = FINDERS[kind](text, from, to);
  return boundary > from ? boundary : undefined;
}

const FINDERS: Readonly<Record<Boundary, (text: string, from: number, to: number) => number>> = {
  paragraph(text, from, to) {
    let boundary = -1;
    for (const { index, 0: gap } of text.slice(from, to).matchAll(/\n[ \t]*\n/g)) boundary = from + index + gap.length;
    return boundary;
  },
  line: (text, _, to) => (text[to] === "\n" ? to : text.lastIndexOf("\n", to - 1) + 1),
  sentence: (text, from, to) => segmentStart(sentences, text, from, to),
  word(text, from, to) {
    let at = to;
    while (at > from && !isSpace(text, at) && !isSpace(text, at - 1)) at -= 1;
    return at;
  },
  grapheme: (text, from, to) => segmentStart(graphemes, text, from, to),
  rune: (text, _, to) => (isPair(text, to) ? to - 1 : to),
};

function segmentStart(segmenter: Intl.Segmenter, text: string, from: number, to: number): number {
  const segment = segmenter.segment(text.slice(from, to + LOOKAHEAD)).containing(to - from);
  return segment ? from + segment.index : -1;
}

export function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at));
}
