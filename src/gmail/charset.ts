import { TextDecoder } from "node:util";

/** ESC and NUL: of charsets that write everything in seven bits (ISO-2022), or in two bytes. */
const SHIFTING: readonly number[] = [0x1b, 0x00];

/**
 * The text of a part or of an encoded word. Bytes that are UTF-8 are read so, whatever they are called: whether Gmail leaves
 * a part in the charset that its header names, or has made UTF-8 of it, is not told anywhere, and other charsets look like
 * UTF-8 only as far as they are ASCII. Never throws; what cannot be read becomes U+FFFD.
 * @param isCut whether the bytes may end within a character, which is left out then
 */
export function decodeText(bytes: Uint8Array, charset: string | undefined, isCut = false): string {
  if (!SHIFTING.some((byte) => bytes.includes(byte))) {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    } catch {
      // Not UTF-8.
    }
  }
  return decoderFor(charset).decode(bytes, { stream: isCut });
}

/** Without a name, or with one that nobody knows: what most mail programs without one mean. */
function decoderFor(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset || "windows-1252");
  } catch {
    return new TextDecoder("windows-1252");
  }
}
