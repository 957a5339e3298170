import type { Command } from "commander";
import { channelArgument } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

/** `deliver` and `channels …` */
export function addChannels(program: Command, environment: Environment): void {
  const deliver = program
    .command("deliver")
    .description("Send one message to a channel from this machine.")
    .addArgument(channelArgument())
    .requiredOption("--to <id>", "recipient, in the form that the channel uses")
    .requiredOption("--text <text>", "message in Markdown")
    .action(async (channel: string, { to, text }: { to: string; text: string }) => {
      const { deliverText } = await import("../commands/channels.ts");
      await deliverText(await environment(), channel, to, text);
    });
  withExamples(deliver, "signalbox deliver telegram --to 12345 --text 'The backup is *done*.'");

  const channels = program.command("channels").description("Work with the channels that replies are delivered to.");
  withExamples(channels, "signalbox channels check");

  const check = channels
    .command("check")
    .description("Check the credentials of each configured channel without sending anything.")
    .action(async () => {
      const { checkChannels } = await import("../commands/channels.ts");
      if (!(await checkChannels(await environment()))) process.exitCode = 1;
    });
  withExamples(check, "signalbox channels check");
}
