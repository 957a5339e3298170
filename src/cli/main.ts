import { Command } from "commander";
import { StartError } from "../shared/lifecycle.ts";
import { release } from "./commands/release.ts";
import { start } from "./commands/start.ts";

const program = new Command("signalbox").description("Job tracking and webhook gateway.");

program
  .command("start")
  .description("Run everything on this machine, with an embedded MongoDB and Redis where none is configured.")
  .option("--watch", "restart the API and the worker when a source file changes")
  .action((options: { watch?: true }) => start(process.env, { watch: options.watch ?? false }));

program
  .command("release")
  .description("Make the indexes that this version needs in the configured MongoDB.")
  .action(() => release(process.env));

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof StartError ? error.message : ((error as Error).stack ?? error)}\n`);
  process.exitCode = 1;
}
