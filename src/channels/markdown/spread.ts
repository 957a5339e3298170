import { isVisible } from "../../shared/text.ts";
import type { Border } from "./borders.ts";
import { cut, skipSpace } from "./cut.ts";
import { mostUnits, shareOf, sizesOf } from "./measure.ts";
import { defuse } from "./pings.ts";
import type { Part, TextStyle } from "./style.ts";
import type { Writer } from "./writer.ts";

const BORDERS: readonly Border[] = ["paragraph", "sentence", "word", "grapheme", "rune"];

/**
 * The messages for a text that is no Markdown. Where not even one character fits as the dialect writes it, it is written
 * as it is; a code point that is over the limit by itself is sent all the same.
 */
export function* spread(text: string, style: TextStyle, writer: Writer): Generator<Part> {
  const most = mostUnits(style.limit, style.unit);
  const share = (part: Part) => shareOf(sizesOf(part, style), style);
  for (let from = skipSpace(text, 0, true); from < text.length; ) {
    const partTo = (to: number): Part => {
      const plain = text.slice(from, to).trimEnd();
      return { plain: defuse(plain, style.dialect), text: defuse(writer.text(plain), style.dialect) };
    };
    const rune = String.fromCodePoint(text.codePointAt(from) ?? 0);
    const to = cut(text, from, most, BORDERS, (end) => share(partTo(end))) ?? from + rune.length;
    const part = partTo(to);
    if (isVisible(part.plain)) yield share(part) <= 1 ? part : { text: part.plain, plain: part.plain };
    from = skipSpace(text, to, true);
  }
}
