/** A part of a mail as Gmail's API returns it, format full. */
export interface RawMail {
  readonly mimeType: string;
  readonly filename: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: { readonly size: number; readonly data?: string };
  readonly parts?: readonly RawMail[];
}

/**
 * Returns a mail in Gmail's form: its tree of parts, with headers as written and bodies without their transfer encoding.
 * @param raw the mail as it is sent; each character up to U+00FF is one byte, and a line end is `\n`
 */
export function rawMail(raw: string): RawMail {
  const end = raw.indexOf("\n\n");
  const [head, content] = end < 0 ? [raw, ""] : [raw.slice(0, end), raw.slice(end + 2)];
  const headers = head.split(/\n(?![ \t])/).flatMap((line) => {
    const [, name, value] = /^([^:\s]+):\s*([\s\S]*)$/.exec(line) ?? [];
    // Gmail returns the bytes of a header as UTF-8.
    return name === undefined ? [] : [{ name, value: Buffer.from(value ?? "", "latin1").toString() }];
  });
  const headerOf = (wanted: string) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? "";
  const type = headerOf("content-type");
  const mimeType = (type.split(";")[0] ?? "").trim().toLowerCase() || "text/plain";
  const filename = /name\*?="?([^";]+)/i.exec(`${headerOf("content-disposition")} ${type}`)?.[1] ?? "";
  const boundary = /boundary="?([^";\n]+)/i.exec(type)?.[1];
  if (mimeType.startsWith("multipart/") && boundary) {
    const [, ...rest] = `\n${content}`.split(`\n--${boundary}`);
    const parts = rest.filter((part) => !part.startsWith("--")).map((part) => rawMail(part.replace(/^[ \t]*\n/, "")));
    return { mimeType, filename, headers, body: { size: 0 }, parts };
  }
  if (mimeType === "message/rfc822") {
    return { mimeType, filename, headers, body: { size: 0 }, parts: [rawMail(content)] };
  }
  const bytes = decodeTransfer(content.replaceAll("\n", "\r\n"), headerOf("content-transfer-encoding").toLowerCase());
  return { mimeType, filename, headers, body: { size: bytes.length, data: bytes.toString("base64url") } };
}

function decodeTransfer(content: string, encoding: string): Buffer {
  if (encoding === "base64") return Buffer.from(content, "base64");
  if (encoding !== "quoted-printable") return Buffer.from(content, "latin1");
  const joined = content.replace(/=[ \t]*\r\n/g, "");
  const decoded = joined.replace(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, "latin1");
}
