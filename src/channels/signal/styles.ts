/** A text as Signal shows it. */
export interface StyledText {
  readonly text: string;
  /** As signal-cli takes them: `start:length:STYLE`, counted in UTF-16 units. */
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

/** A mark, after a backslash if it is to be seen, or what is between marks. */
const TOKENS = /(?<escape>\\?)(?<mark>\*{1,3}|~|`|\|\|)|\\\||[^*~`|\\]+|[|\\]/g;

interface Token {
  readonly text: string;
  /** The mark that this one begins or ends a style with. */
  readonly mark?: string;
  /** Of one that begins: which ends it. */
  end?: number;
  ends?: true;
}

/**
 * Reads the marks of the `signal` dialect, as signal-cli-rest-api does for its `styled` texts; but a mark that stands alone,
 * which that one swallows, is kept.
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

/** Each mark ends the last one like it that is open; what was opened since stands alone. So do two with nothing between. */
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
