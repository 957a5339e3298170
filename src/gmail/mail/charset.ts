import { TextDecoder } from "node:util";
import { decodeStateful } from "./statefulCharsets.ts";

const NUL = 0x00;

/** Names used by mail programs on Windows that the standard (encoding.spec.whatwg.org) does not define. */
const CODE_PAGES: Readonly<Record<string, string>> = {
  cp932: "shift_jis",
  cp936: "gbk",
  cp949: "euc-kr",
  cp950: "big5",
};

/** Windows-1252 from 0x80 to 0x9f; the five bytes that it does not define are the control characters of these numbers. */
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

/**
 * Decodes a part or an encoded word. Valid UTF-8 is decoded as such, whatever the charset: Gmail does not document whether it
 * converts parts to UTF-8, and text in other charsets is valid UTF-8 only if it is ASCII. Never throws; invalid bytes become
 * U+FFFD.
 * @param isTruncated whether the bytes may end within a character, which is dropped then
 */
export function decodeText(bytes: Uint8Array, charset: string | undefined, isTruncated = false): string {
  const stateful = decodeStateful(bytes, charset);
  if (stateful !== undefined) return stateful;
  // Valid UTF-8 does not rule out UTF-16.
  if (!bytes.includes(NUL)) {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isTruncated });
    } catch {
      // Not UTF-8.
    }
  }
  const named = decoderFor(charset);
  const decoder = (named.encoding.startsWith("utf-16") && decoderByByteOrderMark(bytes)) || named;
  const text = decoder.decode(bytes, { stream: isTruncated });
  return decoder.encoding === "windows-1252" ? completeWindows1252(text) : text;
}

/** Completes what Node up to 22.18 decodes as ISO 8859-1 (nodejs/node#56542): its control characters are none here. */
function completeWindows1252(text: string): string {
  return text.replace(/[\x80-\x9f]/g, (control) => WINDOWS_1252.charAt(control.charCodeAt(0) - 0x80));
}

/** Returns the decoder of a charset; Windows-1252 for a missing or unknown name, as most such mails use it. */
function decoderFor(charset: string | undefined): TextDecoder {
  try {
    const decoder = new TextDecoder(CODE_PAGES[charset?.toLowerCase() ?? ""] ?? (charset || "windows-1252"));
    // A browser shows nothing of some stateful encodings, and decodes each text to U+FFFD alone.
    return (decoder.encoding as string) === "replacement" ? new TextDecoder("windows-1252") : decoder;
  } catch {
    return new TextDecoder("windows-1252");
  }
}

/** Returns the decoder for a UTF-16 byte order mark, which is more reliable than the charset's name. */
function decoderByByteOrderMark([first, second]: Uint8Array): TextDecoder | undefined {
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be");
  return first === 0xff && second === 0xfe ? new TextDecoder("utf-16le") : undefined;
}
