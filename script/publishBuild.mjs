import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { STAMP } from "./bootstrap/sources.mjs";

const MIN_BYTES = 1_024; // Compressing smaller files saves no packet.
const COMPRESSIBLE = [".html", ".js", ".css", ".svg"];

/**
 * Adds compressed copies of the compressible files to a build, and the digest of its sources. The build then replaces
 * the previous one by renames, so that no process sees a partial build.
 * @param {string} made the finished build, beside its final place
 * @param {string} place
 * @param {string} sources the digest
 */
export function publishBuild(made, place, sources) {
  const former = `${place}.old-${process.pid}`;
  for (const entry of readdirSync(made, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && COMPRESSIBLE.includes(extname(entry.name))) compress(join(entry.parentPath, entry.name));
  }
  writeFileSync(join(made, STAMP), sources);
  mkdirSync(dirname(place), { recursive: true });
  if (existsSync(place)) renameSync(place, former);
  renameSync(made, place);
  rmSync(former, { recursive: true, force: true });
}

/** @param {string} path */
function compress(path) {
  const content = readFileSync(path);
  if (content.length < MIN_BYTES) return;
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
}
