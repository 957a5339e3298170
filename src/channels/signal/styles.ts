/** A text without marks, and its styles. */
export interface StyledText {
  readonly text: string;
  /** Styles in signal-cli's notation: `start:length:STYLE`, in UTF-16 units. */
  readonly styles: readonly string[];
}

const STYLES: Readonly<Record<string, readonly string[]>> = {
  "***": ["BOLD", "ITALIC"],
  "**": ["BOLD"],
  "*": ["ITALIC"],
  "~": ["STRIKETHROUGH"],
  "`": ["MONOSPACE"],
  "||": ["SPOILER"],
};

/** Matches a mark, a mark escaped with a backslash, or the text between marks. */
const TOKENS = /(?<escape>\\?)(?<mark>\*{1,3}|~|`|\|\|)|\\\||[^*~`|\\]+|[|\\]/g;

interface Token {
  readonly text: string;
  /** The mark, if this token may begin or end a style. */
  readonly mark?: string;
  /** Index of the token that ends the style which this one begins. */
  end?: number;
  /** Whether this token ends a style. */
  ends?: true;
}

/**
 * Parses the marks of the `signal` dialect as signal-cli-rest-api does for its `styled` texts, except that an unpaired mark is
 * kept instead of removed.
 */
export function readStyles(source: string): StyledText {
  const tokens = pair([...source.matchAll(TOKENS)].map(toToken));
  let text = "";
  const openedAt = new Map<number, number>();
  const styles: { readonly start: number; readonly style: string }[] = [];
  for (const [index, { text: literal, mark = "", end, ends }] of tokens.entries()) {
    if (end !== undefined) openedAt.set(end, text.length);
    else if (!ends) text += literal;
    else {
      const start = openedAt.get(index) ?? 0;
      for (const style of STYLES[mark] ?? []) {
        styles.push({ start, style: `${start}:${text.length - start}:${style}` });
      }
    }
  }
  return { text, styles: styles.toSorted((one, other) => one.start - other.start).map(({ style }) => style) };
}

function toToken({ 0: whole, groups }: RegExpMatchArray): Token {
  const mark = groups?.mark;
  if (mark === undefined) return { text: whole === "\\|" ? "|" : whole };
  return groups?.escape ? { text: mark } : { text: mark, mark };
}

/**
 * Pairs marks: each ends the last open mark of its kind, and marks opened in between remain unpaired. Two marks without text
 * between them remain unpaired as well.
 */
function pair(tokens: Token[]): Token[] {
  const open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.mark === undefined) continue;
    const at = open.findLastIndex((opener) => tokens[opener]?.mark === token.mark);
    const opener = tokens[open[at] ?? -1];
    if (!opener) {
      open.push(index);
      continue;
    }
    const isEmpty = open[at] === index - 1;
    open.length = at;
    if (isEmpty) continue;
    opener.end = index;
    token.ends = true;
  }
  return tokens;
}
