import { TextDecoder } from "node:util";

const ESC = 0x1b;
const NUL = 0x00;

/** Names that mail programs of Windows give, and the standard (encoding.spec.whatwg.org) does not know. */
const CODE_PAGES: Readonly<Record<string, string>> = {
  cp932: "shift_jis",
  cp936: "gbk",
  cp949: "euc-kr",
  cp950: "big5",
};

/**
 * The text of a part or of an encoded word. Bytes that are UTF-8 are read so, whatever they are called: whether Gmail leaves
 * a part in the charset that its header names, or has made UTF-8 of it, is not told anywhere, and other charsets look like
 * UTF-8 only as far as they are ASCII. Never throws; what cannot be read becomes U+FFFD.
 * @param isCut whether the bytes may end within a character, which is left out then
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

/** Whether it may be of a charset that writes everything in two bytes, or in seven bits: in others an ESC is a colour's, say. */
function isStatefulEncoding(bytes: Uint8Array, charset = ""): boolean {
  return bytes.includes(NUL) || (/2022/.test(charset) && bytes.includes(ESC));
}

/** Without a name, or with one that nobody knows: what most mail programs without one mean. */
function decoderFor(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(CODE_PAGES[charset?.toLowerCase() ?? ""] ?? (charset || "windows-1252"));
  } catch {
    return new TextDecoder("windows-1252");
  }
}

/** By the byte order mark, which says more than the name. */
function decoderByByteOrderMark([first, second]: Uint8Array): TextDecoder | undefined {
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be");
  return first === 0xff && second === 0xfe ? new TextDecoder("utf-16le") : undefined;
}
