/** A piece of a written text: text, or the sign that begins or ends a mark. */
export interface WrittenPiece {
  readonly text: string;
  readonly mark?: "open" | "close";
}

/**
 * Returns the texts of the pieces without the marks that a service would show as characters, because it reads marks only at
 * the boundaries of words: `foo*bar*baz` becomes `foobarbaz`. White space at the inner edge of a mark is moved outside.
 */
export function withMarksAtWords(written: readonly WrittenPiece[]): string[] {
  const pieces = withSpaceOutside(written);
  const texts = pieces.map(({ text }) => text);
  const open: number[] = [];
  for (const [at, { mark }] of pieces.entries()) {
    if (mark === "open") open.push(at);
    if (mark !== "close") continue;
    const start = open.pop() ?? at;
    if (!isReadAsMark(pieces, start, at)) texts[start] = texts[at] = "";
  }
  return texts;
}

const WORD = /[\p{L}\p{N}\p{M}_]/u;

function isReadAsMark(pieces: readonly WrittenPiece[], start: number, end: number): boolean {
  const sign = pieces[start]!.text;
  const inside = pieces.slice(start + 1, end).filter(({ mark }) => !mark);
  if (!inside.some(({ text }) => /\S/.test(text)) || inside.some(({ text }) => text.includes(sign))) return false;
  const around = [charBefore(pieces, start), charAfter(pieces, end)];
  return around.every((char) => char !== sign && !WORD.test(char));
}

/** Returns the last character of the text before a piece, beyond other marks; empty at the start. */
function charBefore(pieces: readonly WrittenPiece[], at: number): string {
  let before = at - 1;
  while (pieces[before] && (pieces[before]!.mark || pieces[before]!.text === "")) before -= 1;
  return [...(pieces[before]?.text ?? "").slice(-2)].at(-1) ?? "";
}

/** Returns the first character of the text after a piece, beyond other marks; empty at the end. */
function charAfter(pieces: readonly WrittenPiece[], at: number): string {
  let after = at + 1;
  while (pieces[after] && (pieces[after]!.mark || pieces[after]!.text === "")) after += 1;
  return [...(pieces[after]?.text ?? "").slice(0, 2)][0] ?? "";
}

function withSpaceOutside(written: readonly WrittenPiece[]): WrittenPiece[] {
  const pieces: WrittenPiece[] = [];
  let trailing = "";
  for (const [at, piece] of written.entries()) {
    if (trailing !== "" && piece.mark !== "close") {
      pieces.push({ text: trailing });
      trailing = "";
    }
    if (piece.mark) {
      pieces.push(piece);
      continue;
    }
    const text = piece.text.trimStart();
    if (text !== piece.text && written[at - 1]?.mark === "open") {
      const firstOpen = pieces.findLastIndex(({ mark }) => mark !== "open") + 1;
      pieces.splice(firstOpen, 0, { text: piece.text.slice(0, piece.text.length - text.length) });
    } else if (text !== piece.text) pieces.push({ text: piece.text.slice(0, piece.text.length - text.length) });
    const trimmed = text.trimEnd();
    pieces.push({ text: trimmed });
    trailing = text.slice(trimmed.length);
  }
  return trailing === "" ? pieces : [...pieces, { text: trailing }];
}
