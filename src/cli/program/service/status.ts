import { type Command, Option } from "commander";
import type { LogsOptions } from "../../commands/service/logs.ts";
import { EXIT } from "../../exit.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { serviceCommand, wholeNumber } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"];

/** `status`, `logs` and `open`. */
export function addStatus(program: Command, environment: Environment): void {
  const status = program
    .command("status")
    .description(
      "Print whether the service is ready, its jobs, runs and channels. Exits with 1 if it is not ready, and with 3 if it cannot be reached.",
    )
    .option("--json", "print one line of JSON")
    .action(async (options: ServiceOptions & { json?: boolean }) => {
      const { status } = await import("../../commands/service/status.ts");
      if (!(await status(await environment(), options))) process.exitCode = EXIT.failed;
    });
  withExamples(serviceCommand(status), "signalbox status", "signalbox status --json");

  const logs = program
    .command("logs")
    .description("Print the last lines of the log of the instance that `signalbox start` runs on this machine.")
    .option("-f, --follow", "keep printing new lines until Ctrl-C")
    .option("-n, --lines <n>", "maximum number of lines", wholeNumber(0, 1_000_000), 100)
    .addOption(new Option("--level <level>", "only lines of this level or a more severe one").choices(LEVELS))
    .option("--json", "print lines of JSON, as without a terminal")
    .action(async (options: LogsOptions) => {
      const { logs } = await import("../../commands/service/logs.ts");
      await logs(await environment(), options);
    });
  withExamples(logs, "signalbox logs --follow", "signalbox logs --level warn --lines 20");

  const open = program
    .command("open")
    .description("Print the address of the dashboard and open it in the browser of this machine.")
    .action(async (options: ServiceOptions) => {
      const { open } = await import("../../commands/service/open.ts");
      await open(await environment(), options);
    });
  withExamples(serviceCommand(open), "signalbox open");
}
