import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { InvalidArgumentError } from "commander";
import { cleanTraceparent } from "../../../../shared/traceContext.ts";
import { numberFrom, pair } from "../../../arguments.ts";
import { type Define, withExamples, withUrl } from "../../../command.ts";
import { withService } from "../../../service.ts";
import type { ServiceOptions } from "../../../serviceAccess.ts";
import { cleanText } from "../../../terminal/cleanText.ts";
import { print } from "../../../terminal/words.ts";
import { throttle } from "../../../throttle.ts";
import { onceEach, RETURN, returnFields } from "../reporting.ts";
import { execute } from "./execute.ts";
import { type JobOptions, type JobReport, reportJob } from "./jobReport.ts";
import { OutputLog } from "./outputLog.ts";
import { LineSplitter, OutputTail, type StreamName } from "./outputTail.ts";
import { programGroup } from "./programGroup.ts";
import { type ServiceLink, watchLink } from "./serviceLink.ts";

interface RunProgramOptions extends ServiceOptions, JobOptions {
  /** Finds the progress in a line of output, by one group (percent) or two (done, total). */
  readonly progressFrom?: RegExp;
  /** Whether the output becomes the log of the job's step. */
  readonly log: boolean;
  /** Maximum seconds that the last reports may take after the program has ended. */
  readonly wait: number;
  readonly return?: boolean;
  readonly detach?: boolean;
}

/** How often the last line of output is read. */
const MESSAGE_INTERVAL_MS = 1_000;

/** Maximum time before the start of the program for the trace of its job. */
const TRACE_WAIT_MS = 1_000;

/** Maximum time after the end of the program for a service that cannot be reached. */
const AWAY_WAIT_MS = 1_000;

/**
 * `run -- COMMAND`: runs a program and reports it as a job. Exit code 0 completes the job, any other fails it. The last line of
 * output becomes the message. The program starts once the job is created, at the latest after a
 * second, and is never slowed by the service; its output and its signals are
 * passed on, and its exit code becomes that of this process. It gets SIGTERM when cancellation of the job is requested. An
 * invalid address or token is reported before the program starts.
 */
export const runProgram: Define = (command, environment) =>
  withExamples(
    // The words of the program are no names in a URL.
    withUrl(
      command
        .argument("<command...>", "program and its arguments, after --")
        .passThroughOptions()
        .option("--id, --job <id>", "id of the job (default: a random one)")
        .option("--name <name>", "name of the job (default: the name of the program)")
        .option("--metadata <key=value>", "metadata of the job (repeatable)", pair)
        .option(
          "--progress-from <regex>",
          "find the progress in a line of output: one group is the percentage, two are done and total",
          regularExpression,
        )
        .option(
          "--stale-after <seconds>",
          "time without a report after which the job is stale",
          numberFrom(1, 31_536_000),
        )
        .option("--return", RETURN)
        .option("--detach", "print the id of the job, and let the program go on after the end of this command")
        .option("--no-log", "keep the output of the program out of the job's log")
        .option(
          "--wait <seconds>",
          "maximum time for the last report after the program has ended; at most one second while the service cannot be reached",
          numberFrom(0, 3_600),
          10,
        ),
    ),
    "signalbox run --name 'Nightly backup' -- ./backup.sh /srv",
    "signalbox run --return --detach --name Build -- make",
    "signalbox run --id import-7 --progress-from '([0-9]+)/([0-9]+) rows' -- node import.js",
  ).action(async (words: readonly [string, ...string[]], options: RunProgramOptions) =>
    options.detach ? detach(await environment(), options) : runAndReport(await environment(), words, options),
  );

/**
 * Starts this command again without `--detach`, in a session of its own: a program that an agent run leaves behind in its process
 * group ends with the turn.
 */
function detach(env: NodeJS.ProcessEnv, { job, return: isReturn }: RunProgramOptions): void {
  returnFields(isReturn, env);
  const [node, cli = "", ...given] = process.argv;
  const jobId = job ?? (ownPrefix(env).idPrefix ?? "") + randomUUID();
  const at = given.indexOf("--detach");
  const args = [...given.slice(0, at), ...(job === undefined ? ["--job", jobId] : []), ...given.slice(at + 1)];
  const options = { env, detached: true, stdio: "ignore" } as const;
  spawn(node as string, [...process.execArgv, cli, ...args], options).unref();
  print([jobId]);
}

/** Parses a regular expression with at least one group. */
function regularExpression(text: string): RegExp {
  let pattern: RegExp;
  try {
    pattern = new RegExp(text, "u");
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  const groups = (new RegExp(`${text}|`, "u").exec("")?.length ?? 1) - 1;
  if (groups < 1) throw new InvalidArgumentError("It must have a group, such as ([0-9]+)%.");
  return pattern;
}

/** Returns the beginning of the ids of the jobs that the token of an agent run may create; none with another token. */
const ownPrefix = (env: NodeJS.ProcessEnv): { readonly idPrefix?: string } =>
  env.SIGNALBOX_TOKEN && env.SIGNALBOX_JOB_ID && !env.SIGNALBOX_API_TOKEN
    ? { idPrefix: `${env.SIGNALBOX_JOB_ID}/` }
    : {};

/** @throws CommandError for an invalid address or token, before the program starts */
async function runAndReport(
  env: NodeJS.ProcessEnv,
  command: readonly [string, ...string[]],
  options: RunProgramOptions,
): Promise<void> {
  const jobOptions = { ...options, ...returnFields(options.return, env), ...ownPrefix(env) };
  const link = watchLink(cleanTraceparent(env.TRACEPARENT));
  await withService(env, { ...options, fetch: link.fetch }, async ({ retrying, url }) => {
    const note = onceEach((text) => process.stderr.write(`signalbox: ${text}\n`));
    const client = retrying(() => note(`${url} cannot be reached; the program goes on`));
    const cancelled = new AbortController();
    const job = reportJob(client, jobOptions, command[0], cancelled);
    const traceparent = await Promise.race([job.traceparent, awayOrLate(link)]);
    const startedAt = Date.now();
    const group = programGroup();
    cancelled.signal.addEventListener("abort", group.cancel);
    const output = readOutput(job, options.progressFrom, options.log);
    const { exitCode, fault } = await execute(command, group, output.add, traceparent);
    process.exitCode = exitCode;
    if (fault) note(fault);
    const tail = output.end();
    const result = { exitCode, durationMs: Date.now() - startedAt, tail: tail.join("\n") };

    // A client whose last request has failed pauses before the next one; a new client tries at once.
    const isAway = link.awayMs() !== undefined;
    if (isAway) await client.close({ timeoutMs: 0 }).catch(() => {});
    const last = isAway ? retrying() : client;
    let isGivenUp = false;
    const giveUp = () => {
      isGivenUp = true;
      void last.close({ timeoutMs: 0 }).catch(() => {});
    };
    const giveUpIfAway = () => link.awayMs() !== undefined && giveUp();
    const timers = [setTimeout(giveUp, options.wait * 1_000)];
    link.onAway(() => timers.push(setTimeout(giveUpIfAway, AWAY_WAIT_MS)));
    group.ended((signal) => signal !== "SIGHUP" && giveUp());
    try {
      await job.end(last, result, fault ?? tail.at(-1));
    } catch (error) {
      const awaySeconds = ((link.awayMs() ?? 0) / 1_000).toFixed(1);
      const reason = awaySeconds === "0.0" ? "did not accept it in time" : `could not be reached for ${awaySeconds} s`;
      const why = isGivenUp ? `${url} ${reason}.` : cleanText((error as Error).message);
      note(`the end of the job was not reported: ${why}`);
    } finally {
      for (const timer of timers) clearTimeout(timer);
      group.close();
    }
  });
}

/** Resolves when the program waits for the trace of its job no longer: the service cannot be reached, or a second has passed. */
const awayOrLate = (link: ServiceLink): Promise<null> =>
  Promise.race([
    new Promise<null>((resolve) => link.onAway(() => resolve(null))),
    delay(TRACE_WAIT_MS, null, { ref: false }),
  ]);

/**
 * Reads the output of a program, and reports its last line.
 * @param pattern finds the progress; without one most of the output is not looked at
 * @param isLogged whether the output becomes the log of the job's step
 */
function readOutput({ report, log }: JobReport, pattern: RegExp | undefined, isLogged: boolean) {
  const lines = isLogged ? new OutputLog() : undefined;
  const tail = new OutputTail();
  const splitters = { stdout: new LineSplitter(), stderr: new LineSplitter() };
  let progress: number | undefined;
  /** Returns whether the lines have changed the progress. */
  const findProgress = (lines: readonly string[]): boolean => {
    const before = progress;
    for (const line of lines) progress = progressIn(line, pattern) ?? progress;
    return progress !== before;
  };
  const reportLine = () => {
    const message = tail.lines().at(-1);
    report({ ...(message !== undefined && { message }), ...(progress !== undefined && { progress }) });
  };
  const reportSoon = throttle(() => {
    reportLine();
    const text = lines?.take();
    if (text) log(text);
  }, MESSAGE_INTERVAL_MS);
  return {
    add(name: StreamName, chunk: Buffer) {
      tail.add(name, chunk);
      lines?.add(name, chunk);
      if (pattern && findProgress(splitters[name].add(chunk))) reportLine();
      reportSoon();
    },
    /** Reports the last progress, and returns the last lines. */
    end(): string[] {
      reportSoon.cancel();
      if (findProgress(Object.values(splitters).flatMap((splitter) => splitter.end()))) reportLine();
      const text = lines?.take(true);
      if (text) log(text);
      return tail.lines();
    },
  };
}

/** The progress in a line of output, below 100, since only the end of the program completes the job. */
function progressIn(line: string, pattern: RegExp | undefined): number | undefined {
  const [, first, second] = pattern?.exec(line) ?? [];
  if (first === undefined) return undefined;
  const progress = second === undefined ? Number(first) : (100 * Number(first)) / Number(second);
  return Number.isFinite(progress) ? Math.min(99, progress) : undefined;
}
