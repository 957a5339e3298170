import type { Command } from "commander";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

/** `config …` */
export function addConfig(program: Command, environment: Environment): void {
  const config = program.command("config").description("Look at the configuration: file and environment together.");

  const check = config
    .command("check")
    .description("Say whether it is usable, or name every problem.")
    .action(async () => {
      const { checkConfig } = await import("../commands/config.ts");
      checkConfig(await environment());
    });
  withExamples(check, "signalbox config check");

  const show = config
    .command("show")
    .description("Print it as it takes effect, without its secrets.")
    .action(async () => {
      const { showConfig } = await import("../commands/config.ts");
      showConfig(await environment());
    });
  withExamples(show, "signalbox config show");
}
