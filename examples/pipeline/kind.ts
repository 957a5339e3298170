/** The kinds of files that the report distinguishes. */
export type Kind =
  | "empty"
  | "text"
  | "code"
  | "data"
  | "document"
  | "image"
  | "audio"
  | "video"
  | "archive"
  | "program"
  | "binary";

/** Number of bytes from the start of a file that determine its kind. */
export const HEAD_BYTES = 4_096;

/** [kind, offset, the bytes there as latin1 text] */
const SIGNATURES: readonly (readonly [Kind, number, string])[] = [
  ["image", 0, "\x89PNG\r\n\x1a\n"],
  ["image", 0, "\xff\xd8\xff"],
  ["image", 0, "GIF8"],
  ["image", 8, "WEBP"],
  ["image", 0, "BM"],
  ["image", 0, "II*\0"],
  ["image", 0, "MM\0*"],
  ["image", 4, "ftypavif"],
  ["image", 4, "ftypheic"],
  ["audio", 0, "ID3"],
  ["audio", 0, "fLaC"],
  ["audio", 0, "OggS"],
  ["audio", 8, "WAVE"],
  ["video", 4, "ftyp"],
  ["video", 0, "\x1aE\xdf\xa3"],
  ["video", 8, "AVI "],
  ["document", 0, "%PDF-"],
  ["document", 0, "\xd0\xcf\x11\xe0"],
  ["archive", 0, "PK\x03\x04"],
  ["archive", 0, "PK\x05\x06"],
  ["archive", 0, "\x1f\x8b"],
  ["archive", 0, "BZh"],
  ["archive", 0, "\xfd7zXZ\0"],
  ["archive", 0, "7z\xbc\xaf"],
  ["archive", 0, "(\xb5/\xfd"],
  ["archive", 0, "Rar!"],
  ["archive", 257, "ustar"],
  ["text", 0, "\xff\xfe"],
  ["text", 0, "\xfe\xff"],
  ["data", 0, "SQLite format 3\0"],
  ["program", 0, "\x7fELF"],
  ["program", 0, "MZ"],
  ["program", 0, "\0asm"],
  ["program", 0, "\xcf\xfa\xed\xfe"],
];

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** Kinds by extension, for content that is ambiguous, such as text and zip files. */
const REFINED: Partial<Record<Kind, readonly (readonly [Kind, ReadonlySet<string>])[]>> = {
  text: [
    ["code", words("c cc cpp cs css go h html java js jsx kt mjs php pl py rb rs scala sh sql swift ts tsx vue")],
    ["data", words("csv geojson ini json json5 jsonl ndjson toml tsv xml yaml yml")],
    ["image", words("svg")],
  ],
  archive: [["document", words("docx epub odp ods odt pptx xlsx")]],
  binary: [
    ["audio", words("aac mp3")],
    ["data", words("avro bson dat db npy parquet pb")],
    ["program", words("class o pyc so")],
  ],
};

/** Returns the kind from the first bytes and the name; the content takes precedence over the extension. */
export function kindOf(path: string, head: Buffer): Kind {
  if (head.length === 0) return "empty";
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const seen = sniff(head);
  const refined = REFINED[seen]?.find(([, extensions]) => extensions.has(extension));
  return refined?.[0] ?? seen;
}

function sniff(head: Buffer): Kind {
  const bytes = head.toString("latin1");
  if (isText(head) && !bytes.startsWith("%PDF-")) return "text";
  return SIGNATURES.find(([, offset, signature]) => bytes.startsWith(signature, offset))?.[0] ?? "binary";
}

/** Whether the head is UTF-8 without control bytes. It may end within a character. */
function isText(head: Buffer): boolean {
  if (head.some((byte) => byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27))
    return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}
