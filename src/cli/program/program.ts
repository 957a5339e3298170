import { Command } from "commander";
import { version } from "../../shared/version.ts";
import { addChannels } from "./channels.ts";
import { addCompletion } from "./completion.ts";
import { addConfig } from "./config.ts";
import { addDeliveries } from "./deliveries.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";
import { addHooks } from "./hooks.ts";
import { addJobs } from "./jobs.ts";
import { addRoute } from "./route.ts";
import { addRun } from "./run.ts";
import { addRuns } from "./runs.ts";
import { addSessions } from "./sessions.ts";
import { addStart } from "./start.ts";
import { addWebhooks } from "./webhooks.ts";

const GROUPS = [
  addStart,
  addRun,
  addJobs,
  addHooks,
  addRuns,
  addDeliveries,
  addSessions,
  addChannels,
  addRoute,
  addConfig,
  addWebhooks,
  addCompletion,
];

/** Minimum width of the descriptions in the help. The default of 40 leaves a terminal of 60 columns to break words. */
const MIN_HELP_COLUMN = 16;

const HELP_END = `
\`signalbox help COMMAND\` shows the options of a command.
--url and --json may also stand before the command.
A running service has a guide at /guide/.`;

/**
 * Builds every command with its options. The code of a command is loaded only when it runs, so that `--help` is fast.
 */
export function buildProgram(environment: Environment): Command {
  const program = new Command("signalbox").description("Track jobs, receive webhooks, and run agents on them.");
  program.version(version, "-V, --version", "print the version");
  program.exitOverride(); // the caller sets the exit code
  program.configureHelp({ minWidthToWrap: MIN_HELP_COLUMN });
  program.enablePositionalOptions(); // `hooks send` and `hooks send agent` have options of the same names
  for (const add of GROUPS) add(program, environment);
  withExamples(program, "signalbox start", "signalbox jobs list --status failed");
  program.addHelpText("after", HELP_END);
  return program;
}
