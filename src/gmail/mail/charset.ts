import { TextDecoder } from "node:util";

const ESC = 0x1b;
const NUL = 0x00;

/** Names used by mail programs on Windows that the standard (encoding.spec.whatwg.org) does not define. */
const CODE_PAGES: Readonly<Record<string, string>> = {
  cp932: "shift_jis",
  cp936: "gbk",
  cp949: "euc-kr",
  cp950: "big5",
};

/**
 * Decodes a part or an encoded word. Valid UTF-8 is decoded as such, whatever the charset: Gmail does not document whether it
 * converts parts to UTF-8, and text in other charsets is valid UTF-8 only if it is ASCII. Never throws; invalid bytes become
 * U+FFFD.
 * @param isTruncated whether the bytes may end within a character, which is dropped then
 */
export function decodeText(bytes: Uint8Array, charset: string | undefined, isTruncated = false): string {
  if (!isStatefulEncoding(bytes, charset)) {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isTruncated });
    } catch {
      // Not UTF-8.
    }
  }
  const decoder = decoderFor(charset);
  const byMark = decoder.encoding.startsWith("utf-16") ? decoderByByteOrderMark(bytes) : undefined;
  return (byMark ?? decoder).decode(bytes, { stream: isTruncated });
}

/**
 * Returns whether the bytes may be UTF-16 or ISO 2022, which valid UTF-8 does not rule out. ESC counts only with an ISO 2022
 * charset, as other texts contain it too, for example for colours.
 */
function isStatefulEncoding(bytes: Uint8Array, charset = ""): boolean {
  return bytes.includes(NUL) || (/2022/.test(charset) && bytes.includes(ESC));
}

/** Returns the decoder of a charset; Windows-1252 for a missing or unknown name, as most such mails use it. */
function decoderFor(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(CODE_PAGES[charset?.toLowerCase() ?? ""] ?? (charset || "windows-1252"));
  } catch {
    return new TextDecoder("windows-1252");
  }
}

/** Returns the decoder for a UTF-16 byte order mark, which is more reliable than the charset's name. */
function decoderByByteOrderMark([first, second]: Uint8Array): TextDecoder | undefined {
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be");
  return first === 0xff && second === 0xfe ? new TextDecoder("utf-16le") : undefined;
}
