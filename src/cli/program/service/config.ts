import type { Command } from "commander";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `config …` */
export function addConfig(program: Command, environment: Environment): void {
  const config = program
    .command("config")
    .description("Check or print the configuration: the file and the environment together.");
  withExamples(config, "signalbox config check", "signalbox config show");

  const check = config
    .command("check")
    .description("Validate the configuration and list every problem.")
    .action(async () => {
      const { checkConfig } = await import("../../commands/service/config.ts");
      checkConfig(await environment());
    });
  withExamples(check, "signalbox config check");

  const show = config
    .command("show")
    .description("Print the configuration in effect as JSON, with secrets redacted.")
    .action(async () => {
      const { showConfig } = await import("../../commands/service/config.ts");
      showConfig(await environment());
    });
  withExamples(show, "signalbox config show");
}
