/** The encodings in which editors save text files, each with a function that encodes. */
export const ENCODINGS: readonly (readonly [name: string, encode: (text: string) => Buffer])[] = [
  ["UTF-8", (text) => Buffer.from(text)],
  ["UTF-8 with a mark", (text) => Buffer.from(`\ufeff${text}`)],
  ["UTF-16 little-endian with a mark", (text) => Buffer.from(`\ufeff${text}`, "utf16le")],
  ["UTF-16 big-endian with a mark", (text) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
];
