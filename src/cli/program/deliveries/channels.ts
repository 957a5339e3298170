import type { Command } from "commander";
import type { ChannelTestOptions, DeliverOptions } from "../../commands/deliveries/channels.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { channelArgument, serviceCommand } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `deliver` and `channels …` */
export function addChannels(program: Command, environment: Environment): void {
  const deliver = program
    .command("deliver")
    .description("Send one message to a channel, and exit with 1 unless its first attempt succeeds.")
    .addArgument(channelArgument())
    .requiredOption("--to <id>", "recipient, in the form that the channel uses")
    .requiredOption("--text <text>", "message in Markdown")
    .option("--json", "print the delivery as one line of JSON")
    .action(async (channel: string, options: DeliverOptions) => {
      const { deliverText } = await import("../../commands/deliveries/channels.ts");
      await deliverText(await environment(), channel, options);
    });
  withExamples(serviceCommand(deliver), "signalbox deliver telegram --to 12345 --text 'The backup is *done*.'");

  const channels = program
    .command("channels")
    .description("Check, test and resume the channels that replies are delivered to.");
  withExamples(channels, "signalbox channels check");

  const check = channels
    .command("check")
    .description("Check the credentials of each configured channel without sending anything.")
    .option("--json", "print one line of JSON for each channel")
    .action(async (options: ServiceOptions & { json?: boolean }) => {
      const { checkChannels } = await import("../../commands/deliveries/channels.ts");
      if (!(await checkChannels(await environment(), options))) process.exitCode = 1;
    });
  withExamples(serviceCommand(check), "signalbox channels check");

  const test = channels
    .command("test")
    .addArgument(channelArgument())
    .description("Send a test message to a channel.")
    .option("--to <id>", "recipient (default: that of the main session's replies)")
    .option("--text <text>", "message in Markdown")
    .option("--wait", "wait for the first attempt and print its result; exits with 1 unless it was sent")
    .option("--json", "print the delivery as one line of JSON")
    .action(async (channel: string, options: ChannelTestOptions) => {
      const { testChannel } = await import("../../commands/deliveries/channels.ts");
      await testChannel(await environment(), channel, options);
    });
  withExamples(serviceCommand(test), "signalbox channels test telegram --wait");

  const resume = channels
    .command("resume")
    .addArgument(channelArgument())
    .description("Let a channel that is stopped for its credentials try them again at once.")
    .option("--json", "print the channel as one line of JSON")
    .action(async (channel: string, options: ServiceOptions & { json?: boolean }) => {
      const { resumeChannel } = await import("../../commands/deliveries/channels.ts");
      await resumeChannel(await environment(), channel, options);
    });
  withExamples(serviceCommand(resume), "signalbox channels resume telegram");
}
