import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Hopeless, type Problem, type StepCode, whyNot } from "../step.ts";

export interface ScanOutput {
  /** Sorted paths relative to the folder, with `/`. */
  readonly files: string[];
  /** Symbolic links, which are not followed, and entries that are neither files nor folders. */
  readonly skipped: number;
  readonly problems: Problem[];
}

/** Lists the folder. Its size is known only at the end, so the step reports stages instead of progress. */
export const scan: StepCode = async ({ folder, out, report, signal }) => {
  await report.start("looking for files");
  const files: string[] = [];
  const problems: Problem[] = [];
  const ours = new Set([out, jsonBeside(out)]);
  let skipped = 0;
  const waiting = [folder];
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
    signal.throwIfAborted();
    for (const entry of await list(dir, folder, problems)) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (!entry.isFile()) skipped++;
      else if (!ours.has(path)) files.push(below(folder, path));
    }
  }
  files.sort();
  const leftOut = skipped > 0 ? `, ${skipped} links and the like left out` : "";
  const output: ScanOutput = { files, skipped, problems };
  await report.complete({ message: `${files.length} files found${leftOut}`, output });
};

export const jsonBeside = (out: string): string => `${out.replace(/\.md$/i, "")}.json`;

function below(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

async function list(dir: string, folder: string, problems: Problem[]): Promise<Dirent[]> {
  try {
    return await readdir(dir, { withFileTypes: true });
  } catch (error) {
    if (dir === folder) throw new Hopeless(`The folder ${folder} ${whyNot(error)}.`);
    problems.push({ path: `${below(folder, dir)}/`, why: whyNot(error) });
    return [];
  }
}
