import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import type { Client, StepReporter } from "../../../client/client.ts";
import { withTimeSuffix } from "../../../shared/text/text.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanLine, cleanText } from "../../terminal/cleanText.ts";
import { OutputLines } from "../../terminal/outputLines.ts";
import { metadataOf, onceEach } from "./reporting.ts";

export interface RunProgramOptions extends ServiceOptions {
  /** The id of the job; a random one by default. */
  readonly job?: string;
  /** The name of the job; by default the command. */
  readonly name?: string;
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
  /** Finds the progress in a line of output, by one group (percent) or two (done, total). */
  readonly progressFrom?: RegExp;
  /** Maximum seconds that the last reports may take after the program has ended. */
  readonly wait: number;
}

/** How a program ended. */
interface ProgramEnd {
  readonly exitCode: number;
  /** Why it could not be started. */
  readonly fault?: string;
}

/** Signals that are passed on to the program. */
const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
/** Signals that a terminal sends to the program by itself. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];

/**
 * `run`: runs a program and reports it as a job. Exit code 0 completes the job, any other fails it. The last line of output
 * becomes the message. The program starts at once and is never slowed by the service; its output and its signals are passed
 * on, and its exit code becomes that of this process. It gets SIGTERM when cancellation of the job is requested.
 * @throws CommandError for an invalid address or token, before the program starts
 */
export async function runProgram(
  env: NodeJS.ProcessEnv,
  command: readonly [string, ...string[]],
  options: RunProgramOptions,
): Promise<void> {
  await withService(env, options, async ({ retrying, url }) => {
    const note = onceEach((text) => process.stderr.write(`signalbox: ${text}\n`));
    const client = retrying(() => note(`${url} cannot be reached; the program goes on`));
    const startedAt = Date.now();
    const output = new OutputLines();
    const cancelled = new AbortController();
    const job = reportJob(client, options, command, cancelled);
    output.onLine = (line) => job.report(line, progressIn(line, options.progressFrom));
    const { exitCode, fault } = await execute(command, output, cancelled.signal);
    if (fault) process.stderr.write(`signalbox: ${fault}\n`);
    process.exitCode = exitCode;
    const result = { exitCode, durationMs: Date.now() - startedAt, tail: output.tail() };
    await job.end(result, fault ?? output.last).catch((error: Error) => {
      process.stderr.write(`signalbox: the end of the job was not reported: ${cleanText(error.message)}\n`);
    });
  });
}

interface Result {
  readonly exitCode: number;
  readonly durationMs: number;
  /** The last lines of output. */
  readonly tail: string;
}

interface JobReport {
  report(message: string, progress: number | undefined): void;
  /** Reports the end. @throws the error of the service, or one that says that it cannot be reached */
  end(result: Result, message: string | undefined): Promise<void>;
}

/**
 * Creates the job in the background; what is reported until then is sent as one report once it exists.
 * @param cancelled aborted when cancellation of the job is requested
 */
function reportJob(
  client: Client,
  options: RunProgramOptions,
  command: readonly string[],
  cancelled: AbortController,
): JobReport {
  let latest: { message?: string; progress?: number } = {};
  let step: StepReporter | undefined;
  let stop = () => {};
  const created = createJob(client, options, command).then((opened) => {
    step = opened;
    stop = opened.onCancel((error) => cancelled.abort(error));
    opened.update({ progress: 0, ...latest });
    return opened;
  });
  created.catch(() => {}); // `end` throws the error.
  return {
    report(message, progress) {
      latest = { ...latest, message, ...(progress !== undefined && { progress }) };
      step?.update(latest);
    },
    async end(result, message) {
      stop();
      const { aborted, reason } = cancelled.signal;
      const reported = created.then((opened) =>
        result.exitCode === 0
          ? opened.complete({ output: result, ...(message && { message }) })
          : opened.fail(aborted ? reason : message || `Exit code ${result.exitCode}`, {
              output: result,
              failJob: true,
            }),
      );
      const timer = setTimeout(() => void client.close({ timeoutMs: 0 }).catch(() => {}), options.wait * 1_000);
      try {
        await reported;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Creates the job and returns the reporter of its only step. A job of the given id that has ended stays as it is. */
async function createJob(
  client: Client,
  { job: jobId, name, metadata }: RunProgramOptions,
  command: readonly string[],
): Promise<StepReporter> {
  const title = cleanLine(name ?? command.join(" ")).slice(0, MAX_NAME_CHARS);
  const id = jobId === undefined ? randomUUID() : await openJobId(client, jobId);
  const job = client.job(id);
  await job.create({ name: title, ...(metadata && { metadata: metadataOf(metadata) }) });
  return job.step("run", { name: title, from: 0, to: 100 });
}

/** The service's limit. */
const MAX_NAME_CHARS = 1_024;

/** Returns the id, with the present time as its suffix if its job has ended. */
async function openJobId(client: Client, jobId: string): Promise<string> {
  const { status } = await client.job(jobId).create();
  return status === "running" ? jobId : withTimeSuffix(jobId, new Date());
}

/** The progress in a line of output, below 100, since only the end of the program completes the job. */
function progressIn(line: string, pattern: RegExp | undefined): number | undefined {
  const [, first, second] = pattern?.exec(line) ?? [];
  if (first === undefined) return undefined;
  const progress = second === undefined ? Number(first) : (100 * Number(first)) / Number(second);
  return Number.isFinite(progress) ? Math.min(99, progress) : undefined;
}

/** How long output is awaited after the end of the program, while a process that it has left behind keeps it open. */
const DRAIN_MS = 1_000;

/**
 * Runs the program with this process's input, passes on its output and signals, and resolves when it has ended.
 * @param cancelled sends SIGTERM to the program
 */
function execute(
  [file, ...args]: readonly [string, ...string[]],
  output: OutputLines,
  cancelled: AbortSignal,
): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ["inherit", "pipe", "pipe"] });
    for (const name of ["stdout", "stderr"] as const) {
      const { data, end } = output.stream();
      child[name].on("data", data).once("close", end).pipe(process[name], { end: false });
    }
    const passOn = (signal: NodeJS.Signals) => {
      if (!(process.stdin.isTTY && FROM_TERMINAL.includes(signal))) child.kill(signal);
    };
    for (const signal of PASSED_ON) process.on(signal, passOn);
    cancelled.addEventListener("abort", () => child.kill("SIGTERM"));
    const ended = (end: ProgramEnd) => {
      for (const signal of PASSED_ON) process.off(signal, passOn);
      resolve(end);
    };
    child.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      const fault = code === "ENOENT" ? `${file} was not found: check its name and PATH` : message;
      ended({ exitCode: code === "ENOENT" ? 127 : 126, fault: `The program could not be started: ${fault}.` });
    });
    child.once("exit", () => {
      const timer = setTimeout(() => [child.stdout, child.stderr].map((stream) => stream.destroy()), DRAIN_MS);
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        ended({ exitCode: signal ? 128 + constants.signals[signal] : (code ?? 1) });
      });
    });
  });
}
