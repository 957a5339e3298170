import type { Command } from "commander";
import { EXIT } from "../exit.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

/** `start`, `init`, `release`, `backup` and `restore`. */
export function addStart(program: Command, environment: Environment): void {
  const start = program
    .command("start")
    .description("Run everything on this machine, with an embedded MongoDB and Redis where none is configured.")
    .option("--watch", "restart the API and the worker when a source file changes")
    .action(async (options: { watch?: true }) => {
      const { start } = await import("../commands/start.ts");
      await start(await environment(), { watch: options.watch ?? false });
    });
  withExamples(start, "signalbox start", "signalbox start --watch");

  const init = program
    .command("init")
    .description("Write a configuration file that explains every key, with fresh secrets.")
    .option("--force", "replace the file that is there")
    .action(async (options: { force?: true }) => {
      const { init } = await import("../commands/init.ts");
      init(await environment(), { force: options.force ?? false });
    });
  withExamples(init, "signalbox init", "signalbox init --force");

  const release = program
    .command("release")
    .description("Make the indexes that this version needs in the configured MongoDB.")
    .action(async () => {
      const { release } = await import("../commands/release.ts");
      await release(await environment());
    });
  withExamples(release, "signalbox release");

  const doctor = program
    .command("doctor")
    .description("Check the configuration, MongoDB, Redis and the service, and print what to do.")
    .action(async () => {
      const { doctor } = await import("../commands/doctor.ts");
      if (!(await doctor(await environment()))) process.exitCode = EXIT.failed;
    });
  withExamples(doctor, "signalbox doctor");

  const backup = program
    .command("backup <file>")
    .description("Write all data to a compressed file, while the service may run. - is standard output.")
    .action(async (file: string) => {
      const { backup } = await import("../commands/backup.ts");
      await backup(await environment(), file);
    });
  withExamples(backup, "signalbox backup signalbox.backup", "signalbox backup - | ssh host 'cat > signalbox.backup'");

  const restore = program
    .command("restore <file>")
    .description("Restore the data of a backup. Refuses a database that holds data.")
    .option("--force", "delete the data that is there first")
    .action(async (file: string, options: { force?: true }) => {
      const { restore } = await import("../commands/backup.ts");
      await restore(await environment(), file, { force: options.force ?? false });
    });
  withExamples(restore, "signalbox restore signalbox.backup", "signalbox restore signalbox.backup --force");
}
