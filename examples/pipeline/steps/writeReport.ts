import { rename, writeFile } from "node:fs/promises";
import { findings, toMarkdown } from "../findings.ts";
import { Hopeless, type StepCode, whyNot } from "../step.ts";
import type { ClassifyOutput } from "./classify.ts";
import { jsonBeside } from "./scan.ts";

/** Writes both reports. Its completion also completes the job. */
export const writeReport: StepCode = async ({ folder, out, report, previous, signal }) => {
  const { files, problems } = previous as ClassifyOutput;
  await report.start("writing the report");
  signal.throwIfAborted();
  const found = findings(folder, files, problems);
  const json = jsonBeside(out);
  await write(json, `${JSON.stringify({ ...found, all: files }, null, 2)}\n`);
  await write(out, toMarkdown(found));
  const { totals, kinds, duplicates } = found;
  const counts = { duplicates: duplicates.length, problems: problems.length };
  const output = { ...totals, kinds, ...counts, report: out, json };
  await report.complete({ message: `report written to ${out}`, output });
};

/** Writes the file atomically. */
async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(`${path}.part`, text);
    await rename(`${path}.part`, path);
  } catch (error) {
    throw new Hopeless(`${path} cannot be written: ${whyNot(error)}.`);
  }
}
