import { Command } from "commander";
import { version } from "../../shared/version.ts";
import { addChannels } from "./channels.ts";
import { addCompletion } from "./completion.ts";
import { addConfig } from "./config.ts";
import { addDeliveries } from "./deliveries.ts";
import type { Environment } from "./environment.ts";
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

/**
 * Builds every command with its options. The code of a command is loaded only when it runs, so that `--help` is fast.
 */
export function buildProgram(environment: Environment): Command {
  const program = new Command("signalbox").description("Job tracking and webhook gateway.");
  program.version(version, "-V, --version", "print the version");
  program.exitOverride(); // the caller sets the exit code
  program.enablePositionalOptions(); // `hooks send` and `hooks send agent` have options of the same names
  for (const add of GROUPS) add(program, environment);
  return program;
}
