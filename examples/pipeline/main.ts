/**
 * Analyses a folder and reports on its content, as a job of four steps: scan, hash, classify, report.
 *
 *   node examples/pipeline/main.ts FOLDER [--out FILE] [--job ID] [--ask] [--flaky] [--slow | --fast]
 *
 * On a terminal the example takes half a minute, so that there is something to watch; `--fast` skips the pauses.
 * It reports to the service that the commands of this folder call: SIGNALBOX_URL with SIGNALBOX_API_TOKEN, else the instance
 * that runs here.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Client, createClient, type Job, SignalboxError } from "signalbox/client";
import { findAccess } from "../../src/cli/serviceAccess.ts";
import { loadDotEnv } from "../../src/config/dotEnv.ts";
import { loudFetch, type Print } from "./loudFetch.ts";
import { type Order, runPipeline } from "./orchestrator.ts";

const USAGE =
  "Usage: node examples/pipeline/main.ts FOLDER [--out FILE] [--job ID] [--ask] [--flaky] [--slow | --fast]";

/** How long the service may be unavailable before the pipeline gives up. */
const PATIENCE_MS = 60_000;

/** An error before anything has begun; its message is printed on the terminal. */
class NotStarted extends Error {}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        out: { type: "string" },
        job: { type: "string" },
        ask: { type: "boolean", default: false },
        flaky: { type: "boolean", default: false },
        slow: { type: "boolean", default: process.stdout.isTTY },
        fast: { type: "boolean", default: false },
      },
    });
    if (positionals.length > 1 || (positionals.length === 0 && !values.job)) throw new NotStarted(USAGE);
    return { ...values, folder: positionals[0] };
  } catch (error) {
    throw new NotStarted(error instanceof NotStarted ? USAGE : `${(error as Error).message}\n${USAGE}`);
  }
}

async function findJob(client: Client, jobId: string): Promise<Job | null> {
  try {
    return await client.jobs.get(jobId);
  } catch (error) {
    if (error instanceof SignalboxError && error.code === "job_not_found") return null;
    throw error;
  }
}

/** Returns the task; with `--job`, that of the existing job if there is one. */
async function takeOrder(client: Client): Promise<{ order: Order; job: Job | null }> {
  const { folder: given, out, job: named, ask, flaky, slow, fast } = readArguments();
  if (given !== undefined) await mustBeFolder(resolve(given));
  const job = named === undefined ? null : await findJob(client, named);
  const input = job?.input as Partial<Pick<Order, "folder" | "out" | "ask">> | null | undefined;
  const folder = given === undefined ? input?.folder : resolve(given);
  if (folder === undefined) throw new NotStarted(`There is no job ${named} to go on with: name a folder.`);
  if (job && input?.folder !== folder) throw new NotStarted(`The job ${named} is about ${input?.folder}.`);
  await mustBeFolder(folder);
  const jobId = named ?? randomUUID();
  const path = out ?? input?.out ?? join(await mkdtemp(join(tmpdir(), "signalbox-report-")), "report.md");
  const order = { jobId, folder, out: resolve(path), ask: ask || input?.ask === true, flaky, slow: slow && !fast };
  return { order, job };
}

async function mustBeFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) throw new NotStarted(`There is no folder ${path}.`);
}

/** Creates the job, or restarts one that has failed. */
async function openJob(client: Client, { jobId, folder, out, ask }: Order, job: Job | null): Promise<void> {
  const made = { name: `Look through ${folder}`, input: { folder, out, ask }, metadata: { example: "pipeline" } };
  if (!job) await client.job(jobId).create(made);
  else if (job.status === "failed") await client.job(jobId).start();
}

/** Returns a function that prints each different error once, however often it happens. */
function onceEach(print: (message: string) => void): (error: unknown) => void {
  const printed = new Set<string>();
  return (error) => {
    const { message } = error as Error;
    if (!printed.has(message)) print(message);
    printed.add(message);
  };
}

async function main(): Promise<void> {
  const env = { ...process.env };
  loadDotEnv(env);
  const access = await findAccess(env, {});
  const url = access.url.replace(/\/+$/, "");
  const print: Print = (stepKey, text) => console.log(`${stepKey.padEnd(9)} ${text}`);
  const client = createClient({
    url,
    token: access.apiToken,
    fetch: loudFetch(print),
    retryForMs: PATIENCE_MS,
    onError: onceEach((message) =>
      console.error(`${message} Trying again for a minute. \`npm start\` starts the service.`),
    ),
  });
  const { order, job } = await takeOrder(client);
  const address = `${url}/jobs/${encodeURIComponent(order.jobId)}`;
  await openJob(client, order, job);
  console.log(`job ${order.jobId}: ${order.folder}${job ? " (going on)" : ""}\nwatch it at ${address}`);
  try {
    await runPipeline(client, order, print);
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
