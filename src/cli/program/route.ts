import type { Command } from "commander";
import { channelArgument } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

/** `route …` */
export function addRoute(program: Command, environment: Environment): void {
  const route = program.command("route").description("Where replies of the main session go.");

  const show = route
    .command("show")
    .description("Print the channel and the recipient.")
    .action(async () => {
      const { showRoute } = await import("../commands/route.ts");
      await showRoute(await environment());
    });
  withExamples(show, "signalbox route show");

  const set = route
    .command("set")
    .description("Send them there from now on.")
    .addArgument(channelArgument())
    .argument("<to>", "the recipient, as the channel names it")
    .action(async (channel: string, to: string) => {
      const { setRoute } = await import("../commands/route.ts");
      await setRoute(await environment(), channel, to);
    });
  withExamples(set, "signalbox route set telegram 12345");
}
