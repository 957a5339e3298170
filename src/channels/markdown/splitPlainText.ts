import { isVisible } from "../../shared/text/text.ts";
import type { Boundary } from "./boundaries.ts";
import { fillOf, maxUtf16Units, sizesOf } from "./measure.ts";
import { neutralizeMentions } from "./mentions.ts";
import { findSplitPoint, skipSpace } from "./splitPoint.ts";
import type { Part, TextStyle } from "./style.ts";
import type { Writer } from "./writer.ts";

const BOUNDARIES: readonly Boundary[] = ["paragraph", "sentence", "word", "grapheme", "rune"];

/**
 * Splits a text without Markdown into messages. If not even one character fits once escaped for the dialect, it is sent
 * unescaped. A single code point that exceeds the limit is sent all the same.
 */
export function* splitPlainText(text: string, style: TextStyle, writer: Writer): Generator<Part> {
  const maxUnits = maxUtf16Units(style.limit, style.unit);
  const fill = (part: Part) => fillOf(sizesOf(part, style), style);
  for (let from = skipSpace(text, 0, true); from < text.length; ) {
    const partTo = (to: number): Part => {
      const plain = text.slice(from, to).trimEnd();
      return {
        plain: neutralizeMentions(plain, style.dialect),
        text: neutralizeMentions(writer.text(plain), style.dialect),
      };
    };
    const rune = String.fromCodePoint(text.codePointAt(from) ?? 0);
    const to = findSplitPoint(text, from, maxUnits, BOUNDARIES, (end) => fill(partTo(end))) ?? from + rune.length;
    const part = partTo(to);
    if (isVisible(part.plain)) yield fill(part) <= 1 ? part : { text: part.plain, plain: part.plain };
    from = skipSpace(text, to, true);
  }
}
