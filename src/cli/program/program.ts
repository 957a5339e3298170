import { Command, Help } from "commander";
import { version } from "../../shared/process/version.ts";
import { addChannels } from "./deliveries/channels.ts";
import { addDeliveries } from "./deliveries/deliveries.ts";
import { addNotify } from "./deliveries/notify.ts";
import { addRoute } from "./deliveries/route.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";
import { addHooks } from "./hooks/hooks.ts";
import { addWebhooks } from "./hooks/webhooks.ts";
import { addJobs } from "./jobs/jobs.ts";
import { addRun } from "./jobs/run.ts";
import { addGates } from "./runs/gates.ts";
import { addRuns } from "./runs/runs.ts";
import { addSessions } from "./runs/sessions.ts";
import { addCompletion } from "./service/completion.ts";
import { addConfig } from "./service/config.ts";
import { addStart } from "./service/start.ts";
import { addStatus } from "./service/status.ts";
import { addToken } from "./service/token.ts";

const GROUPS = [
  addStart,
  addStatus,
  addRun,
  addJobs,
  addGates,
  addHooks,
  addRuns,
  addDeliveries,
  addNotify,
  addSessions,
  addChannels,
  addRoute,
  addConfig,
  addToken,
  addWebhooks,
  addCompletion,
];

/** Minimum width of the descriptions in the help. The default of 40 leaves a terminal of 60 columns to break words. */
const MIN_HELP_COLUMN = 16;

/** Puts the description of a command or an option below its name on a terminal that is too narrow for two columns. */
function formatItem(this: Help, term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  if (description === "" || width - termWidth - 4 >= MIN_HELP_COLUMN)
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  const lines = helper.boxWrap(description, Math.max(MIN_HELP_COLUMN, width - 6)).split("\n");
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join("\n");
}

const HELP_END = `
\`signalbox help COMMAND\` shows the options of a command.
Options follow the name of the command.
A running service has a guide at /guide/.`;

/**
 * Builds every command with its options. The code of a command is loaded only when it runs, so that `--help` is fast.
 */
export function buildProgram(environment: Environment): Command {
  const program = new Command("signalbox").description("Track jobs, receive webhooks, and run agents on them.");
  program.version(version, "-V, --version", "print the version");
  program.exitOverride(); // the caller sets the exit code
  program.configureHelp({ minWidthToWrap: MIN_HELP_COLUMN, formatItem });
  program.enablePositionalOptions(); // `hooks send` and `hooks send agent` have options of the same names
  for (const add of GROUPS) add(program, environment);
  withExamples(program, "signalbox start", "signalbox jobs list --status failed");
  program.addHelpText("after", HELP_END);
  return program;
}
