import { createHash } from "node:crypto";
import { constants, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { AttemptFailed, type Problem, progressOf, type StepCode, whyNot } from "../step.ts";
import type { ScanOutput } from "./scan.ts";

export interface HashedFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

export interface HashOutput {
  readonly files: HashedFile[];
  readonly problems: Problem[];
}

/** The output of a failed attempt: the finished files, and those that are retried once. */
interface Unfinished extends HashOutput {
  readonly again: string[];
}

const PERMANENT = new Set(["EACCES", "EPERM"]);

/**
 * Hashes every file that was found. A file that changes while it is read, is deleted or cannot be read makes the attempt
 * fail after all others are done. The next attempt continues where this one stopped, and lists files that fail again as
 * problems.
 */
export const hash: StepCode = async ({ folder, report, previous, own, flaky, pace }) => {
  const { files: paths, problems: found } = previous as ScanOutput;
  const { files = [], problems = [...found], again = [] } = (own ?? {}) as Partial<Unfinished>;
  const settled = new Set([...files, ...problems].map(({ path }) => path));
  const due = paths.filter((path) => !settled.has(path));
  const before = paths.length - due.length;
  const begun = own ? `going on, ${due.length} files left` : "hashing";
  await report.start(begun, { progress: progressOf(before, paths.length) });

  const troubled: Problem[] = [];
  for (const [i, path] of due.entries()) {
    if (flaky && i === due.length >> 1)
      throw new AttemptFailed("fails on purpose (--flaky)", { files, problems, again });
    await pace(paths.length);
    try {
      files.push({ path, ...(await hashFile(join(folder, path))) });
    } catch (error) {
      const isFinal = again.includes(path) || PERMANENT.has((error as NodeJS.ErrnoException).code ?? "");
      (isFinal ? problems : troubled).push({ path, why: whyNot(error) });
    }
    const done = before + i + 1;
    report.progress(progressOf(done, paths.length), `${done} of ${paths.length} files hashed`);
  }

  const [first] = troubled;
  if (first) {
    const left: Unfinished = { files, problems, again: troubled.map(({ path }) => path) };
    throw new AttemptFailed(`${first.path} ${first.why}${andMore(troubled.length - 1)}`, left);
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const output: HashOutput = { files, problems };
  await report.complete({ message: `${files.length} files hashed`, output });
};

const andMore = (count: number) => (count > 0 ? ` (and ${count} more)` : "");

/** @throws Error when the file cannot be read, or changes while it is read */
async function hashFile(path: string): Promise<Omit<HashedFile, "path">> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const before = await mark(file);
    const sum = createHash("sha256");
    let size = 0;
    for await (const chunk of file.createReadStream({ autoClose: false, start: 0 })) {
      sum.update(chunk);
      size += chunk.length;
    }
    if ((await mark(file)) !== before) throw new Error("changed while it was read");
    return { size, sha256: sum.digest("hex") };
  } finally {
    await file.close();
  }
}

async function mark(file: FileHandle): Promise<string> {
  const { size, mtimeNs } = await file.stat({ bigint: true });
  return `${size} ${mtimeNs}`;
}
