import type { Command } from "commander";
import { EXIT } from "../../exit.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `start`, `reload`, `init`, `release`, `doctor`, `backup` and `restore`. */
export function addStart(program: Command, environment: Environment): void {
  const start = program
    .command("start")
    .description("Run all processes on this machine, with an embedded MongoDB and Redis unless these are configured.")
    .option("--watch", "restart the API and the worker when a source file changes")
    .action(async (options: { watch?: true }) => {
      const { start } = await import("../../commands/service/start.ts");
      await start(await environment(), { watch: options.watch ?? false });
    });
  withExamples(start, "signalbox start", "signalbox start --watch");

  const reload = program
    .command("reload")
    .description(
      "Apply a changed configuration file to the instance that `signalbox start` runs on this machine, and wait for the outcome.",
    )
    .action(async () => {
      const { reload } = await import("../../commands/service/reload.ts");
      await reload(await environment());
    });
  withExamples(reload, "signalbox reload");

  const init = program
    .command("init")
    .description("Write a configuration file with new secrets and an explanation of every key.")
    .option("--force", "replace an existing file")
    .action(async (options: { force?: true }) => {
      const { init } = await import("../../commands/service/init.ts");
      init(await environment(), { force: options.force ?? false });
    });
  withExamples(init, "signalbox init", "signalbox init --force");

  const release = program
    .command("release")
    .description("Prepare the configured MongoDB for this version: create missing indexes. Safe to repeat.")
    .action(async () => {
      const { release } = await import("../../commands/service/release.ts");
      await release(await environment());
    });
  withExamples(release, "signalbox release");

  const doctor = program
    .command("doctor")
    .description("Check the configuration, MongoDB, Redis and the service, and print what to do.")
    .action(async () => {
      const { doctor } = await import("../../commands/service/doctor.ts");
      if (!(await doctor(await environment()))) process.exitCode = EXIT.failed;
    });
  withExamples(doctor, "signalbox doctor");

  const backup = program
    .command("backup")
    .description("Write all data to a compressed file. The service can keep running.")
    .argument("<file>", "path of the file, or - for standard output")
    .action(async (file: string) => {
      const { backup } = await import("../../commands/service/backup.ts");
      await backup(await environment(), file);
    });
  withExamples(backup, "signalbox backup signalbox.backup", "signalbox backup -");

  const restore = program
    .command("restore")
    .description("Restore the data of a backup into an empty database.")
    .argument("<file>", "path of the file")
    .option("--force", "delete the existing data first")
    .action(async (file: string, options: { force?: true }) => {
      const { restore } = await import("../../commands/service/backup.ts");
      await restore(await environment(), file, { force: options.force ?? false });
    });
  withExamples(restore, "signalbox restore signalbox.backup", "signalbox restore signalbox.backup --force");
}
