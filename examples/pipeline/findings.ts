import type { Kind } from "./kind.ts";
import type { Problem } from "./step.ts";
import type { ClassifiedFile } from "./steps/classify.ts";

interface Amount {
  files: number;
  bytes: number;
}

/** The content of the report. */
export interface Findings {
  readonly folder: string;
  /** wastedBytes is the size of all but one of each set of equal files. */
  readonly totals: Amount & { wastedBytes: number };
  readonly kinds: Partial<Record<Kind, Amount>>;
  /** Sets of files with equal content, the most wasteful first; empty files do not count. */
  readonly duplicates: readonly { sha256: string; bytes: number; paths: string[] }[];
  readonly largest: readonly ClassifiedFile[];
  readonly problems: readonly Problem[];
}

const LARGEST = 10;

export function findings(folder: string, files: readonly ClassifiedFile[], problems: readonly Problem[]): Findings {
  const kinds: Partial<Record<Kind, Amount>> = {};
  for (const { kind, size } of files) {
    kinds[kind] ??= { files: 0, bytes: 0 };
    kinds[kind].files++;
    kinds[kind].bytes += size;
  }
  const duplicates = findDuplicates(files);
  return {
    folder,
    totals: {
      files: files.length,
      bytes: files.reduce((sum, { size }) => sum + size, 0),
      wastedBytes: duplicates.reduce((sum, { bytes, paths }) => sum + wasted(bytes, paths), 0),
    },
    kinds,
    duplicates,
    largest: [...files].sort((a, b) => b.size - a.size).slice(0, LARGEST),
    problems,
  };
}

const wasted = (bytes: number, paths: readonly string[]) => bytes * (paths.length - 1);

function findDuplicates(files: readonly ClassifiedFile[]): Findings["duplicates"] {
  const sets = Map.groupBy(
    files.filter(({ size }) => size > 0),
    ({ sha256 }) => sha256,
  );
  return [...sets]
    .filter(([, equal]) => equal.length > 1)
    .map(([sha256, equal]) => ({ sha256, bytes: equal[0]!.size, paths: equal.map(({ path }) => path) }))
    .sort((a, b) => wasted(b.bytes, b.paths) - wasted(a.bytes, a.paths));
}

export function toMarkdown({ folder, totals, kinds, duplicates, largest, problems }: Findings): string {
  const byBytes = Object.entries(kinds).sort(([, a], [, b]) => b.bytes - a.bytes);
  return [
    `# ${text(folder)}`,
    `${totals.files} files, ${bytes(totals.bytes)}; ${bytes(totals.wastedBytes)} of it in duplicates.`,
    section(
      "Kinds",
      ["kind", "files", "size"],
      byBytes.map(([kind, of]) => [kind, String(of.files), bytes(of.bytes)]),
    ),
    section(
      "Largest files",
      ["file", "kind", "size"],
      largest.map((file) => [text(file.path), file.kind, bytes(file.size)]),
    ),
    section(
      "Duplicates",
      ["files", "size of each", "sha256"],
      duplicates.map((set) => [set.paths.map(text).join("<br>"), bytes(set.bytes), set.sha256.slice(0, 12)]),
    ),
    section(
      "Not looked at",
      ["file", "why"],
      problems.map(({ path, why }) => [text(path), text(why)]),
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

/** Returns a table with a heading, or nothing without rows. */
function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return `## ${title}\n\n${lines.join("\n")}`;
}

/** Escapes a file name, which may contain any characters, as plain text of the report. */
function text(value: string): string {
  return value.replace(/[\n\r]/g, " ").replace(/[\\`*_[\]<>|#&~]/g, "\\$&");
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

function bytes(count: number): string {
  const power = count < 1_024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(count) / 10));
  return `${power === 0 ? count : (count / 1_024 ** power).toFixed(1)} ${UNITS[power]}`;
}
