import type { Command } from "commander";
import { channelArgument } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

/** `route …` */
export function addRoute(program: Command, environment: Environment): void {
  const route = program
    .command("route")
    .description("Print or set the channel and recipient for replies of the main session.");
  withExamples(route, "signalbox route show");

  const show = route
    .command("show")
    .description("Print the channel and recipient for replies of the main session.")
    .action(async () => {
      const { showRoute } = await import("../commands/route.ts");
      await showRoute(await environment());
    });
  withExamples(show, "signalbox route show");

  const set = route
    .command("set")
    .description("Set the channel and recipient for replies of the main session.")
    .addArgument(channelArgument())
    .argument("<to>", "recipient, in the form that the channel uses")
    .action(async (channel: string, to: string) => {
      const { setRoute } = await import("../commands/route.ts");
      await setRoute(await environment(), channel, to);
    });
  withExamples(set, "signalbox route set telegram 12345");
}
