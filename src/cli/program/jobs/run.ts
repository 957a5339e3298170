import { type Command, InvalidArgumentError } from "commander";
import type { RunProgramOptions } from "../../commands/jobs/run/runProgram.ts";
import { numberFrom, pair, withUrl } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `run -- COMMAND` */
export function addRun(program: Command, environment: Environment): void {
  const run = program
    .command("run")
    .description(
      "Run a program and report it as a job. Exit code 0 completes the job, any other fails it; the last line of output becomes the message.",
    )
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
    .option("--stale-after <seconds>", "time without a report after which the job is stale", numberFrom(1, 31_536_000))
    .option(
      "--wait <seconds>",
      "maximum time for the last report after the program has ended; at most one second while the service cannot be reached",
      numberFrom(0, 3_600),
      10,
    )
    .action(async (command: [string, ...string[]], options: RunProgramOptions) => {
      const { runProgram } = await import("../../commands/jobs/run/runProgram.ts");
      await runProgram(await environment(), command, options);
    });
  withExamples(
    withUrl(run), // The words of the command are no names in a URL.
    "signalbox run --name 'Nightly backup' -- ./backup.sh /srv",
    "signalbox run --id import-7 --progress-from '([0-9]+)/([0-9]+) rows' -- node import.js",
  );
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
