import type { Command } from "commander";
import type { RouteOptions } from "../../commands/deliveries/route.ts";
import { channelArgument, serviceCommand } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `route …` */
export function addRoute(program: Command, environment: Environment): void {
  const route = program
    .command("route")
    .description("Print, set or clear the channel and recipient for replies of the main session.");
  withExamples(route, "signalbox route show");

  const show = route
    .command("show")
    .description("Print the channel and recipient for replies of the main session.")
    .option("--json", "print one line of JSON")
    .action(async (options: RouteOptions) => {
      const { showRoute } = await import("../../commands/deliveries/route.ts");
      await showRoute(await environment(), options);
    });
  withExamples(serviceCommand(show), "signalbox route show");

  const set = route
    .command("set")
    .description("Set the channel and recipient for replies of the main session.")
    .addArgument(channelArgument())
    .argument("<to>", "recipient, in the form that the channel uses", String) // not part of a URL
    .option("--json", "print one line of JSON")
    .action(async (channel: string, to: string, options: RouteOptions) => {
      const { setRoute } = await import("../../commands/deliveries/route.ts");
      await setRoute(await environment(), channel, to, options);
    });
  withExamples(serviceCommand(set), "signalbox route set telegram 12345");

  const clear = route
    .command("clear")
    .description("Clear what was set, so that session.main of the configuration applies again.")
    .option("--json", "print one line of JSON")
    .action(async (options: RouteOptions) => {
      const { clearRoute } = await import("../../commands/deliveries/route.ts");
      await clearRoute(await environment(), options);
    });
  withExamples(serviceCommand(clear), "signalbox route clear");
}
