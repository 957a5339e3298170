import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import type { Context } from "koa";

/** The values of Cache-Control for built files. */
export const CACHING = {
  /** For files whose name contains a hash of their content. */
  forever: "public, max-age=31536000, immutable",
  revalidate: "no-cache",
} as const;

/** The suffixes of the files that a build has compressed, preferred encoding first. */
const ENCODINGS = { br: ".br", gzip: ".gz" } as const;

export interface BuiltFile {
  readonly type: string;
  readonly etag: string;
  readonly bodies: Readonly<Record<string, Buffer>>;
}

/** The files of the builds that this process serves, by directory. */
const builds = new Map<string, ReadonlyMap<string, BuiltFile>>();

/**
 * Returns the files of a directory and those below it, by their path with slashes; empty without such a directory. Reads them
 * once per process, so that a later build never mixes with the one that is served, also after a reload of the configuration.
 */
export function readBuiltFiles(directory: string): ReadonlyMap<string, BuiltFile> {
  const files = builds.get(directory) ?? readFiles(directory);
  builds.set(directory, files);
  return files;
}

function readFiles(directory: string): Map<string, BuiltFile> {
  if (!existsSync(directory)) return new Map();
  const compressed = new Set<string>(Object.values(ENCODINGS));
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !compressed.has(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(directory, path).replaceAll(sep, "/"), readBuiltFile(path)]));
}

/** Reads a file and its compressed copies. */
function readBuiltFile(path: string): BuiltFile {
  const identity = readFileSync(path);
  const bodies: Record<string, Buffer> = {};
  for (const [encoding, suffix] of Object.entries(ENCODINGS)) {
    if (existsSync(path + suffix)) bodies[encoding] = readFileSync(path + suffix);
  }
  return { type: extname(path), etag: etagOf(identity), bodies: { ...bodies, identity } };
}

/** Returns a weak tag, because it is the same for all encodings. */
const etagOf = (content: Buffer): string => `W/"${hash("sha256", content, "base64url").slice(0, 22)}"`;

/** Returns a text as a file with a compressed copy. @param type its suffix, such as `.html` */
export function builtText(type: string, text: string): BuiltFile {
  const identity = Buffer.from(text);
  return { type, etag: etagOf(identity), bodies: { gzip: gzipSync(identity), identity } };
}

/** Returns a file of text with each occurrence of a text replaced. Compressed copies are made again, with gzip only. */
export function replaceInFile(file: BuiltFile, from: string, to: string): BuiltFile {
  const { identity = Buffer.alloc(0) } = file.bodies;
  if (!identity.includes(from)) return file;
  const changed = Buffer.from(identity.toString().replaceAll(from, to));
  const isCompressed = "gzip" in file.bodies;
  const bodies = { ...(isCompressed && { gzip: gzipSync(changed) }), identity: changed };
  return { ...file, etag: etagOf(changed), bodies };
}

/**
 * Responds with a file in the client's preferred encoding, or with 304 if the client has it.
 * @param status the status of the response; with 404, the file is sent in any case
 */
export function sendBuiltFile(
  ctx: Context,
  { type, etag, bodies }: BuiltFile,
  {
    policy,
    caching,
    status = 200,
  }: { policy: string; caching: (typeof CACHING)[keyof typeof CACHING]; status?: 200 | 404 },
): void {
  ctx.set({ "Content-Security-Policy": policy, "Cache-Control": caching, ETag: etag });
  ctx.vary("Accept-Encoding");
  ctx.status = status;
  if (status === 200 && ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const encoding = Object.keys(bodies).find((one) => ctx.acceptsEncodings(one)) ?? "identity";
  if (encoding !== "identity") ctx.set("Content-Encoding", encoding);
  ctx.type = type;
  ctx.body = bodies[encoding];
}
