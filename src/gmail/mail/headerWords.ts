import { stripEscapeSequences } from "../../shared/text/sanitizeText.ts";
import { decodeText } from "./charset.ts";
import { decodeStateful, isStatefulCharset } from "./statefulCharsets.ts";

/** Matches an encoded word, `=?charset?B?…?=` or `=?charset?Q?…?=`; a language may follow the charset (RFC 2231). */
const ENCODED_WORD = /=\?([^?\s*]{1,64})(?:\*[^?\s]{0,64})?\?([bq])\?([^?\r\n]*)\?=/gi;

/** Decodes the encoded words (RFC 2047), or unlabelled ISO 2022, of a header's value and returns it on one line. */
export function decodeHeader(written: string): string {
  const value = (written.includes("\x1b") && decodeStateful(Buffer.from(written))) || written;
  let text = "";
  let end = 0;
  let run: { charset: string; bytes: Buffer[] } | undefined;
  const close = () => {
    if (run) text += decodeText(Buffer.concat(run.bytes), run.charset);
    run = undefined;
  };
  for (const match of value.matchAll(ENCODED_WORD)) {
    const [word, label = "", encoding = "", content = ""] = match;
    const between = value.slice(end, match.index);
    const charset = label.toLowerCase();
    // White space between two encoded words is dropped, and a character may span both, so that their bytes are decoded
    // together. With a stateful charset each word begins in the initial state (RFC 2047, 3).
    if (!run || run.charset !== charset || between.trim() || isStatefulCharset(charset)) {
      const isBetweenWords = run !== undefined && !between.trim();
      close();
      if (!isBetweenWords) text += between;
      run = { charset, bytes: [] };
    }
    run.bytes.push(encoding.toLowerCase() === "b" ? Buffer.from(content, "base64") : unquote(content));
    end = match.index + word.length;
  }
  close();
  return stripEscapeSequences(text + value.slice(end))
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .toWellFormed();
}

/** Decodes the Q encoding, in which `_` is a space and `=` begins two hexadecimal digits. */
function unquote(content: string): Buffer {
  const pieces = content.replaceAll("_", " ").split(/=([0-9a-f]{2})/i);
  return Buffer.concat(pieces.map((piece, index) => Buffer.from(piece, index % 2 === 1 ? "hex" : "utf8")));
}
