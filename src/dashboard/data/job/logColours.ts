/** A part of a line with one colour, as the class of the page that shows it; empty for the usual one. */
interface ColouredPart {
  readonly text: string;
  readonly colour: string;
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with a control character
const SEQUENCE = /\x1b\[([\d;:]*)m/;

/** Splits a line at its colour sequences (SGR). Shows the eight colours and bold; others appear as usual text. */
export function colourParts(line: string): ColouredPart[] {
  const parts: ColouredPart[] = [];
  let colour = "";
  let isBold = false;
  const add = (text: string) => {
    if (text !== "") parts.push({ text, colour: [colour, isBold ? "log-bold" : ""].filter(Boolean).join(" ") });
  };
  // odd items are the parameters of a sequence
  for (const [i, item] of line.split(SEQUENCE).entries()) {
    if (i % 2 === 0) {
      add(item);
      continue;
    }
    const codes = item.split(/[;:]/).map(Number);
    for (let at = 0; at < codes.length; at++) {
      const code = codes[at] ?? 0;
      if (code === 0) [colour, isBold] = ["", false];
      else if (code === 1) isBold = true;
      else if (code === 22) isBold = false;
      else if (code === 39) colour = "";
      else if (code === 38 || code === 48) at += codes[at + 1] === 5 ? 2 : 4;
      else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) colour = `log-${NAMES[code % 10]}`;
    }
  }
  return parts;
}
