// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

/**
 * The text with `\n` for every line end, without control characters, which no service shows and some refuse, and with the
 * replacement character for what is no Unicode: half of a surrogate pair.
 */
export function clean(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\v\f\x85]/g, "\n")
    .replace(CONTROLS, "");
}
