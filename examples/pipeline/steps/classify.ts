import { open } from "node:fs/promises";
import { join } from "node:path";
import { HEAD_BYTES, type Kind, kindOf } from "../kind.ts";
import { type Problem, progressOf, type StepCode, whyNot } from "../step.ts";
import type { HashedFile, HashOutput } from "./hash.ts";

export interface ClassifiedFile extends HashedFile {
  readonly kind: Kind;
}

export interface ClassifyOutput {
  readonly files: ClassifiedFile[];
  readonly problems: Problem[];
}

/** Determines the kind of each file. A file that was deleted since it was hashed is listed as a problem. */
export const classify: StepCode = async ({ folder, report, previous, pace }) => {
  const { files, problems } = previous as HashOutput;
  await report.start("looking into the files");
  const output: ClassifyOutput = { files: [], problems: [...problems] };
  for (const [i, file] of files.entries()) {
    await pace(files.length);
    try {
      output.files.push({ ...file, kind: kindOf(file.path, await readHead(join(folder, file.path))) });
    } catch (error) {
      output.problems.push({ path: file.path, why: whyNot(error) });
    }
    report.progress(progressOf(i + 1, files.length), `${i + 1} of ${files.length} files classified`);
  }
  const kinds = new Set(output.files.map(({ kind }) => kind));
  const message = `${output.files.length} files, of kinds: ${[...kinds].sort().join(", ") || "none"}`;
  await report.complete({ message, output });
};

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
