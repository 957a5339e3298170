import type { Command } from "commander";
import { channelArgument } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

/** `deliver` and `channels …` */
export function addChannels(program: Command, environment: Environment): void {
  const deliver = program
    .command("deliver")
    .description("Send one message to a channel, from here.")
    .addArgument(channelArgument())
    .requiredOption("--to <id>", "the recipient, as the channel names it")
    .requiredOption("--text <text>", "what is sent, in Markdown")
    .action(async (channel: string, { to, text }: { to: string; text: string }) => {
      const { deliverText } = await import("../commands/channels.ts");
      await deliverText(await environment(), channel, to, text);
    });
  withExamples(deliver, "signalbox deliver telegram --to 12345 --text 'The backup is *done*.'");

  const check = program
    .command("channels")
    .description("Where replies are delivered.")
    .command("check")
    .description("Try each configured channel's credentials; nothing is sent.")
    .action(async () => {
      const { checkChannels } = await import("../commands/channels.ts");
      if (!(await checkChannels(await environment()))) process.exitCode = 1;
    });
  withExamples(check, "signalbox channels check");
}
