import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { pathToFileURL } from "node:url";

const MAX_MESSAGE_LENGTH = 500;

/**
 * Describes a value that a transform threw, with its place in the source: `TypeError at lib/issue.ts:12:7: …`. The place is
 * omitted if none in `dir` is known. File names are relative to `dir`.
 * @param {unknown} thrown
 * @param {string} dir a real path
 * @param {Iterable<string>} [files] searched for the place of a syntax error, which Node does not always report
 */
export function describeThrown(thrown, dir, files = []) {
  try {
    if (!(thrown instanceof Error)) return withoutDir(`${thrownValue(thrown)} was thrown, which is not an Error`, dir);
    const { name, message, cause } = thrown;
    const place = placeOf(thrown, dir) ?? (thrown instanceof SyntaxError && placeOfSyntaxError(files, dir));
    const reason = cause instanceof Error ? ` (because of ${cause.name}: ${cause.message})` : "";
    return withoutDir(oneLine(`${name}${place ? ` at ${place}` : ""}: ${message}${reason}`), dir);
  } catch {
    return "the thrown value cannot be read";
  }
}

/** @param {unknown} value */
function thrownValue(value) {
  if (typeof value === "string") return oneLine(JSON.stringify(value));
  return typeof value === "object" && value !== null ? "an object" : oneLine(String(value));
}

/** @param {string} text */
function oneLine(text) {
  const line = text.replace(/\s+/g, " ");
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH)}…` : line;
}

/** Returns the possible beginnings of a path in `dir`: as a URL and as a path. @param {string} dir */
const prefixes = (dir) => [`${pathToFileURL(dir).href}/`, `${dir}/`];

/** @param {string} text @param {string} dir */
const withoutDir = (text, dir) => prefixes(dir).reduce((rest, prefix) => rest.replaceAll(prefix, ""), text);

/**
 * Returns the innermost place in `dir`. Places in the author's own files take precedence over places in packages.
 * @param {Error} error @param {string} dir
 */
function placeOf({ stack }, dir) {
  const [first = "", ...lines] = typeof stack === "string" ? stack.split("\n") : [];
  const heading = afterPrefix(first, dir);
  if (heading?.start === 0) return headingPlace(heading.rest, lines);
  const places = lines
    .filter((line) => /^\s+at /.test(line))
    .flatMap((line) => afterPrefix(line, dir)?.rest.match(/^.+?:\d+:\d+/)?.[0] ?? []);
  return places.find((place) => !place.includes("node_modules/")) ?? places[0];
}

/** @param {string} line @param {string} dir */
function afterPrefix(line, dir) {
  for (const prefix of prefixes(dir)) {
    const start = line.indexOf(prefix);
    if (start < 0 || !["", " ", "("].includes(line.charAt(start - 1))) continue;
    const rest = line.slice(start + prefix.length);
    return { start, rest: prefix.startsWith("file:") ? rest.replaceAll(/(%[0-9A-F]{2})+/g, decodeURIComponent) : rest };
  }
  return undefined;
}

/**
 * Returns the place of a syntax error. Its stack begins with file and line, the source, and a mark under the column.
 * @param {string} fileAndLine @param {string[]} lines
 */
function headingPlace(fileAndLine, lines) {
  const mark = lines.find((line) => /^\s*\^+\s*$/.test(line));
  return `${fileAndLine}${mark === undefined ? "" : `:${mark.indexOf("^") + 1}`}`;
}

/** @param {Iterable<string>} files @param {string} dir */
function placeOfSyntaxError(files, dir) {
  for (const file of [...files].filter((name) => /\.m?js$/.test(name)).reverse()) {
    try {
      // This parses the file, and its errors report the place.
      stripTypeScriptTypes(readFileSync(file, "utf8"), { sourceUrl: file });
    } catch (error) {
      if (error instanceof Error) return placeOf(error, dir);
    }
  }
  return undefined;
}
