/**
 * Looks through a folder and reports what lies in it, as a job of four steps: scan, hash, classify, report.
 *
 *   node examples/pipeline/main.ts FOLDER [--out report.md] [--job ID] [--flaky]
 *
 * SIGNALBOX_URL (default http://127.0.0.1:3000) says where the service is, SIGNALBOX_TOKEN its token if it has one.
 */
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Order, runPipeline } from "./orchestrator.ts";
import { connect, Refused, type Signalbox } from "./signalbox.ts";

const USAGE = "Usage: node examples/pipeline/main.ts FOLDER [--out FILE] [--job ID] [--flaky]";

interface Job {
  readonly status: "running" | "completed" | "failed";
  readonly input: { readonly folder?: string; readonly out?: string } | null;
}

/** Nothing has been begun; the message is for the person at the terminal. */
class NotStarted extends Error {}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { out: { type: "string" }, job: { type: "string" }, flaky: { type: "boolean", default: false } },
    });
    if (positionals.length > 1 || (positionals.length === 0 && !values.job)) throw new NotStarted(USAGE);
    return { ...values, folder: positionals[0] };
  } catch (error) {
    throw new NotStarted(error instanceof NotStarted ? USAGE : `${(error as Error).message}\n${USAGE}`);
  }
}

const jobPath = (jobId: string) => `/api/jobs/${encodeURIComponent(jobId)}`;

async function findJob(signalbox: Signalbox, jobId: string): Promise<Job | null> {
  try {
    return await signalbox.call<Job>("GET", jobPath(jobId));
  } catch (error) {
    if (error instanceof Refused && error.code === "job_not_found") return null;
    throw error;
  }
}

/** What is to be done: with `--job`, what the job was made for, when there is one already. */
async function takeOrder(signalbox: Signalbox): Promise<{ order: Order; job: Job | null }> {
  const { folder: given, out, job: named, flaky } = readArguments();
  if (given !== undefined) await mustBeFolder(resolve(given));
  const job = named === undefined ? null : await findJob(signalbox, named);
  const folder = given === undefined ? job?.input?.folder : resolve(given);
  if (folder === undefined) throw new NotStarted(`There is no job ${named} to go on with: name a folder.`);
  if (job && job.input?.folder !== folder) throw new NotStarted(`The job ${named} is about ${job.input?.folder}.`);
  await mustBeFolder(folder);
  const jobId = named ?? randomUUID();
  return { order: { jobId, folder, out: resolve(out ?? job?.input?.out ?? "report.md"), flaky }, job };
}

async function mustBeFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) throw new NotStarted(`There is no folder ${path}.`);
}

/** Makes the job, or sets one that had failed running again. */
async function openJob(signalbox: Signalbox, { jobId, folder, out }: Order, job: Job | null): Promise<void> {
  const made = { name: `Look through ${folder}`, input: { folder, out }, metadata: { example: "pipeline" } };
  if (!job) await signalbox.call("PUT", jobPath(jobId), made);
  else if (job.status === "failed") await signalbox.call("PUT", jobPath(jobId), { status: "running" });
}

async function main(): Promise<void> {
  const url = (process.env.SIGNALBOX_URL ?? "http://127.0.0.1:3000").replace(/\/+$/, "");
  const signalbox = connect(url, process.env.SIGNALBOX_TOKEN);
  const { order, job } = await takeOrder(signalbox);
  const address = `${url}${jobPath(order.jobId)}`;
  await openJob(signalbox, order, job);
  console.log(`job ${order.jobId}: ${order.folder}${job ? " (going on)" : ""}`);
  try {
    await runPipeline(signalbox, order, (stepKey, text) => console.log(`${stepKey.padEnd(9)} ${text}`));
    console.log(`done: ${order.out}\n${address}`);
  } catch (error) {
    console.error(`${(error as Error).message}\nGo on with: --job ${order.jobId}\n${address}`);
    process.exitCode = 1;
  }
}

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = error instanceof NotStarted ? 2 : 1;
});
