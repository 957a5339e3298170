import { TextDecoder } from "node:util";

/** A set of characters that an escape sequence of ISO 2022 selects, by the encoding that holds the same characters. */
interface CharacterSet {
  readonly encoding: string;
  /** Bytes before each character in that encoding. */
  readonly prefix: string;
  readonly bytesPerCharacter: 1 | 2;
}

const ASCII: CharacterSet = { encoding: "latin1", prefix: "", bytesPerCharacter: 1 };
const KATAKANA: CharacterSet = { encoding: "euc-jp", prefix: "\x8e", bytesPerCharacter: 1 };
const JIS_X_0208: CharacterSet = { encoding: "euc-jp", prefix: "", bytesPerCharacter: 2 };
const JIS_X_0212: CharacterSet = { encoding: "euc-jp", prefix: "\x8f", bytesPerCharacter: 2 };
const KS_X_1001: CharacterSet = { encoding: "euc-kr", prefix: "", bytesPerCharacter: 2 };
const GB_2312: CharacterSet = { encoding: "gbk", prefix: "", bytesPerCharacter: 2 };
const LATIN_1: CharacterSet = { encoding: "iso-8859-1", prefix: "", bytesPerCharacter: 1 };
const GREEK: CharacterSet = { encoding: "iso-8859-7", prefix: "", bytesPerCharacter: 1 };

/** Sets by the escape sequence that designates them, without ESC (RFC 1468, 1554, 1557, 1922, 2237). */
const DESIGNATIONS: Readonly<Record<string, readonly [register: "g0" | "g1" | "g2", set: CharacterSet]>> = {
  "(B": ["g0", ASCII],
  "(J": ["g0", ASCII], // JIS X 0201 differs in the yen sign and the overline, which most programs write as ASCII
  "(H": ["g0", ASCII],
  "(I": ["g0", KATAKANA],
  "$@": ["g0", JIS_X_0208],
  $B: ["g0", JIS_X_0208],
  "$(@": ["g0", JIS_X_0208],
  "$(B": ["g0", JIS_X_0208],
  "$(D": ["g0", JIS_X_0212],
  "$(O": ["g0", JIS_X_0208],
  "$(Q": ["g0", JIS_X_0208],
  $A: ["g0", GB_2312],
  "$(A": ["g0", GB_2312],
  "$(C": ["g0", KS_X_1001],
  ")I": ["g1", KATAKANA],
  "$)A": ["g1", GB_2312],
  "$)C": ["g1", KS_X_1001],
  ".A": ["g2", LATIN_1],
  ".F": ["g2", GREEK],
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: ISO 2022 consists of control characters
const ISO_2022_CONTROL = /(\x1b(?:\$[()]?|[().])[@-Z]|\x1bN[^\x00-\x1f]|[\x0e\x0f])/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences that select a set of two-byte characters
const SELECTS_TWO_BYTE_SET = /\x1b\$(?:[@AB]|\([@-DOQ]|\)[AC])/;

/** Returns whether a charset names an encoding with a state, whose encoded words must be decoded one by one. */
export function isStatefulCharset(charset: string): boolean {
  return /2022|utf-?7|hz|^cp5022|^jis/i.test(charset);
}

/**
 * Decodes text in an encoding with shift states, which TextDecoder knows in part or not at all: ISO 2022 in its Japanese,
 * Korean and Chinese forms, HZ and UTF-7. Returns undefined for other text. Japanese mails often name another charset, or
 * none; a text of 7-bit bytes that selects a two-byte set is ISO 2022 whatever its name. The sets of CNS 11643, which no
 * encoding of the platform holds, become U+FFFD.
 */
export function decodeStateful(bytes: Uint8Array, charset = ""): string | undefined {
  if (bytes.some((byte) => byte === 0 || byte >= 0x80)) return undefined;
  if (/utf-?7/i.test(charset)) return decodeUtf7(Buffer.from(bytes).toString("latin1"));
  if (/^(?:x-)?hz\b/i.test(charset)) return decodeHz(Buffer.from(bytes).toString("latin1"));
  if (!bytes.includes(0x1b) && !bytes.includes(0x0e)) return undefined;
  const text = Buffer.from(bytes).toString("latin1");
  return isStatefulCharset(charset) || SELECTS_TWO_BYTE_SET.test(text) ? decodeIso2022(text, charset) : undefined;
}

function decodeIso2022(text: string, charset: string): string {
  // Headers leave out the designation that stands at the beginning of a Korean body (RFC 1557).
  const g1 = /kr/i.test(charset) ? KS_X_1001 : /cn/i.test(charset) ? GB_2312 : KATAKANA;
  const registers = { g0: ASCII, g1, g2: ASCII };
  let active: "g0" | "g1" = "g0";
  let decoded = "";
  // The pieces at odd indexes are control sequences.
  for (const [index, piece] of text.split(ISO_2022_CONTROL).entries()) {
    if (index % 2 === 0) decoded += decodeSet(piece, registers[active]);
    else if (piece === "\x0e") active = "g1";
    else if (piece === "\x0f") active = "g0";
    else if (piece.startsWith("\x1bN")) decoded += decodeSet(piece.slice(2), registers.g2);
    else {
      const [register, set] = DESIGNATIONS[piece.slice(1)] ?? [];
      if (register && set) registers[register] = set;
      else if (piece.startsWith("\x1b$")) registers[/[)]/.test(piece) ? "g1" : "g0"] = UNKNOWN;
      else decoded += piece;
      if (register === "g0") active = "g0";
    }
  }
  return decoded;
}

const UNKNOWN: CharacterSet = { encoding: "", prefix: "", bytesPerCharacter: 2 };

/** Decodes characters of one set. Spaces and control characters are in no set; half a character is dropped. */
function decodeSet(text: string, set: CharacterSet): string {
  if (set === ASCII) return text;
  return text.replace(/[\x21-\x7e]+/g, (characters) => {
    const size = set.bytesPerCharacter;
    const whole = characters.slice(0, characters.length - (characters.length % size));
    if (set === UNKNOWN) return "\ufffd".repeat(whole.length / size);
    const bytes = Buffer.from(whole, "latin1").map((byte) => byte | 0x80);
    if (set.prefix === "") return decoderOf(set).decode(bytes);
    const high = Buffer.from(bytes).toString("latin1");
    const prefixed = high.replace(size === 1 ? /./gs : /../gs, (character) => set.prefix + character);
    return decoderOf(set).decode(Buffer.from(prefixed, "latin1"));
  });
}

const decoders = new Map<CharacterSet, TextDecoder>();

function decoderOf(set: CharacterSet): TextDecoder {
  const decoder = decoders.get(set) ?? new TextDecoder(set.encoding);
  decoders.set(set, decoder);
  return decoder;
}

/** Decodes HZ (RFC 1843): `~{` begins GB 2312 and `~}` ends it, `~~` is a tilde, and a tilde at the line's end joins lines. */
function decodeHz(text: string): string {
  return text.replace(/~\{([^~]*)(?:~\}|$)|~(~|\r?\n)/g, (_, characters?: string, escaped?: string) =>
    characters === undefined ? (escaped === "~" ? "~" : "") : decodeSet(characters, GB_2312),
  );
}

/** Decodes UTF-7 (RFC 2152), in which `+` begins UTF-16 in base64 and `+-` is a plus sign. */
function decodeUtf7(text: string): string {
  return text.replace(/\+([A-Za-z0-9+/]*)-?/g, (_, base64: string) => {
    if (base64 === "") return "+";
    const bytes = Buffer.from(base64, "base64");
    return new TextDecoder("utf-16be").decode(bytes.subarray(0, bytes.length & ~1));
  });
}
