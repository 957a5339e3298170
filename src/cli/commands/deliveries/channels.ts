import { channelCalls } from "../../../client/calls/channels.ts";
import type { Delivery } from "../../../client/client.ts";
import type { ChannelCheck } from "../../../wire/channel.ts";
import { channelArgument, parseRecipient } from "../../arguments.ts";
import { type Define, type JsonOptions, serviceCommand, withExamples } from "../../command.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { withService } from "../../service.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { print } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { firstResult, printTest } from "./firstResult.ts";

/** `channels check`: lets a worker check the credentials of each configured channel without sending anything. */
export const checkChannels: Define = (command, environment) =>
  withExamples(
    serviceCommand(command.option("--json", "print one line of JSON for each channel")),
    "signalbox channels check",
  ).action(async (options: JsonOptions) =>
    withService(await environment(), options, async ({ client }) => {
      const { check } = channelCalls(client.call);
      const configured = (await client.channels()).channels.filter((one) => one.configured);
      const checked = await Promise.all(configured.map(({ channel }) => check(channel)));
      if (options.json) print(checked.map((one) => cleanJson(one)));
      else if (checked.length === 0) {
        printNote("No channel is configured. Add one to `channels` in the configuration file, and reload it.");
      } else print(checked.map(checkLine));
      if (!checked.every(({ ok }) => ok)) process.exitCode = EXIT.failed;
    }),
  );

const checkLine = ({ ok, channel, detail }: ChannelCheck): string =>
  `${ok ? "ok  " : "FAIL"}  ${channel.padEnd(10)}  ${cleanLine(detail)}`;

interface MessageOptions extends JsonOptions {
  readonly to?: string;
  readonly text?: string;
}

/** `channels test CHANNEL`: sends a test message. With `wait` it then waits for the result of the first attempt. */
export const testChannel: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .addArgument(channelArgument())
        .option("--to <id>", "recipient (default: that of the main session's replies)")
        .option("--text <text>", "message in Markdown")
        .option("--wait", "wait for the first attempt and print its result; exits with 1 unless it was sent")
        .option("--json", "print the delivery as one line of JSON"),
    ),
    "signalbox channels test telegram --wait",
  ).action(async (channel: string, options: MessageOptions & { readonly wait?: boolean }) => {
    const message = messageOf(options);
    return withService(await environment(), options, async ({ client }) => {
      const { deliveryId } = await channelCalls(client.call).test(channel, message);
      return printTest(client, { channel }, deliveryId, options);
    });
  });

/** `channels resume CHANNEL`: lets a stopped channel try its credentials again at once. */
export const resumeChannel: Define = (command, environment) =>
  withExamples(
    serviceCommand(command.addArgument(channelArgument()).option("--json", "print the channel as one line of JSON")),
    "signalbox channels resume telegram",
  ).action(async (channel: string, options: JsonOptions) =>
    withService(await environment(), options, async ({ client }) => {
      const resumed = await channelCalls(client.call).resume(channel);
      if (options.json) return print([cleanJson(resumed)]);
      print([resumed.state === "stopped" ? `${channel} tries its credentials again.` : `${channel} is not stopped.`]);
    }),
  );

/** `deliver CHANNEL --to ID --text …`: sends one message and waits for the result of the first attempt. */
export const deliverText: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .addArgument(channelArgument())
        .requiredOption("--to <id>", "recipient, in the form that the channel uses")
        .requiredOption("--text <text>", "message in Markdown")
        .option("--json", "print the delivery as one line of JSON"),
    ),
    "signalbox deliver telegram --to 12345 --text 'The backup is *done*.'",
  ).action(async (channel: string, options: MessageOptions) => {
    const message = messageOf(options);
    return withService(await environment(), options, async ({ client }) => {
      const { deliveryId } = await channelCalls(client.call).test(channel, message);
      await untilInterrupted(async (signal) => {
        const delivery = await firstResult(client, { channel }, deliveryId, signal);
        if (options.json) print([cleanJson(delivery)]);
        else print(sentLines(delivery));
        if (delivery.state !== "sent") throw new CommandError(EXIT.failed, whyNotSent(delivery));
      });
    });
  });

/** @throws CommandError for a recipient or a text that the service would reject */
function messageOf({ to, text }: MessageOptions) {
  if (text?.trim() === "") throw new CommandError(EXIT.usage, "--text is empty: pass the message to send.");
  return { ...(to !== undefined && { to: parseRecipient(to) }), ...(text !== undefined && { text }) };
}

const sentLines = ({ parts }: Delivery): string[] =>
  parts.flatMap(({ state, id }, index) =>
    state === "sent" ? [`sent ${index + 1} of ${parts.length}${id ? ` (${cleanLine(id)})` : ""}`] : [],
  );

function whyNotSent({ channel, state, parts, reason }: Delivery): string {
  const sent = parts.filter((part) => part.state === "sent").length;
  const maySent = parts.some((part) => part.state === "sending") ? "It may have been sent" : "Nothing was sent";
  const what = sent === 0 ? maySent : `${sent} of ${parts.length} parts were sent`;
  const next = state === "pending" ? " The service tries again by itself." : "";
  return `${what} to ${channel}: ${reason}${next}`;
}
