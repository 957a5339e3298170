import { readFileSync } from "node:fs";

/** Byte order marks and the encodings that they stand for. Editors on Windows write all three. */
const MARKS: readonly (readonly [mark: string, encoding: string])[] = [
  ["efbbbf", "utf-8"],
  ["fffe", "utf-16le"],
  ["feff", "utf-16be"],
];

/**
 * Returns the text of a file in UTF-8, or in UTF-16 with a byte order mark. The mark is not part of the text.
 * @param file a path or a file descriptor
 * @throws an error whose `code` completes the message "… cannot be read (CODE)": the code of the file system, or a clause
 *   about the encoding
 */
export const readTextFile = (file: string | number): string => decodeText(readFileSync(file));

/** Decodes the content of a text file. @throws as readTextFile does */
export function decodeText(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 3)).toString("hex");
  const encoding = MARKS.find(([mark]) => start.startsWith(mark))?.[1] ?? "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    const code = "it is neither UTF-8 nor UTF-16; save it as UTF-8";
    throw Object.assign(new Error(code, { cause }), { code });
  }
}
