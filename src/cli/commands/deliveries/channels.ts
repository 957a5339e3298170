import { type ChannelCheck, channelCalls } from "../../../client/calls/channels.ts";
import type { Delivery } from "../../../client/client.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { parseRecipient } from "../../recipient.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { tableLines } from "../../terminal/table.ts";
import { print, rowLines } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { firstResult } from "../service/firstResult.ts";
import { DELIVERY_COLUMNS } from "./deliveries.ts";

type JsonOptions = ServiceOptions & { readonly json?: boolean };

/**
 * `channels check`: lets a worker check the credentials of each configured channel without sending anything.
 * @returns whether all of them are valid
 */
export function checkChannels(env: NodeJS.ProcessEnv, options: JsonOptions): Promise<boolean> {
  return withService(env, options, async ({ client }) => {
    const { check } = channelCalls(client.call);
    const configured = (await client.channels()).channels.filter((one) => one.configured);
    const checked = await Promise.all(configured.map(({ channel }) => check(channel)));
    if (options.json) print(checked.map((one) => cleanJson(one)));
    else if (checked.length === 0) {
      printNote("No channel is configured. Add one to `channels` in the configuration file, and reload it.");
    } else print(checked.map(checkLine));
    return checked.every(({ ok }) => ok);
  });
}

const checkLine = ({ ok, channel, detail }: ChannelCheck): string =>
  `${ok ? "ok  " : "FAIL"}  ${channel.padEnd(10)}  ${cleanLine(detail)}`;

export type ChannelTestOptions = JsonOptions & {
  readonly to?: string;
  readonly text?: string;
  readonly wait?: boolean;
};

/** `channels test CHANNEL`: sends a test message. With `wait` it then waits for the result of the first attempt. */
export function testChannel(env: NodeJS.ProcessEnv, channel: string, options: ChannelTestOptions): Promise<void> {
  const message = messageOf(options);
  return withService(env, options, async ({ client }) => {
    const { deliveryId } = await channelCalls(client.call).test(channel, message);
    if (!options.wait) return print(options.json ? [cleanJson({ deliveryId })] : rowLines([["Delivery", deliveryId]]));
    printNote(`delivery ${cleanLine(deliveryId)}`);
    await untilInterrupted(async (signal) => {
      const delivery = await firstResult(client, { channel }, deliveryId, signal);
      if (delivery.state !== "sent") process.exitCode = EXIT.failed;
      print(options.json ? [cleanJson(delivery)] : tableLines([delivery], DELIVERY_COLUMNS));
    });
  });
}

/** `channels resume CHANNEL`: lets a stopped channel try its credentials again at once. */
export function resumeChannel(env: NodeJS.ProcessEnv, channel: string, options: JsonOptions): Promise<void> {
  return withService(env, options, async ({ client }) => {
    const resumed = await channelCalls(client.call).resume(channel);
    if (options.json) return print([cleanJson(resumed)]);
    print([resumed.state === "stopped" ? `${channel} tries its credentials again.` : `${channel} is not stopped.`]);
  });
}

export type DeliverOptions = JsonOptions & { readonly to: string; readonly text: string };

/**
 * `deliver CHANNEL --to ID --text …`: sends one message and waits for the result of the first attempt.
 * @throws CommandError unless every part was sent
 */
export function deliverText(env: NodeJS.ProcessEnv, channel: string, options: DeliverOptions): Promise<void> {
  const message = messageOf(options);
  return withService(env, options, async ({ client }) => {
    const { deliveryId } = await channelCalls(client.call).test(channel, message);
    await untilInterrupted(async (signal) => {
      const delivery = await firstResult(client, { channel }, deliveryId, signal);
      if (options.json) print([cleanJson(delivery)]);
      else print(sentLines(delivery));
      if (delivery.state !== "sent") throw new CommandError(EXIT.failed, whyNotSent(delivery));
    });
  });
}

/** @throws CommandError for a recipient or a text that the service would reject */
function messageOf({ to, text }: ChannelTestOptions) {
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
