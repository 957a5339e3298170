import { randomUUID } from "node:crypto";
import Type from "typebox";
import { recipientOn, unconfigured } from "../../../models/deliveries/addDelivery.ts";
import { resumeChannel } from "../../../models/deliveries/channelStop.ts";
import { readChannels } from "../../../models/deliveries/readChannels.ts";
import { viewDelivery } from "../../../models/deliveries/readDeliveries.ts";
import { AppError, invalidField } from "../../../shared/errors.ts";
import { channelCheck } from "../../../shared/queue/definitions.ts";
import { MAX_RECIPIENT } from "../../../shared/text/text.ts";
import * as s from "../../../wire/blocks.ts";
import { Channel, ChannelCheck } from "../../../wire/channel.ts";
import { Delivery, DeliveryReceipt } from "../../../wire/delivery.ts";
import type { ApiDeps } from "../../deps.ts";
import * as examples from "../../examples/channels.ts";
import { checkRecipient } from "../../recipient.ts";
import { route } from "../../routing/route.ts";

/** Returns the schema of a recipient in a request. */
export const Recipient = (description: string) =>
  Type.String({ maxLength: MAX_RECIPIENT, pattern: "\\S", description });

const params = Type.Object({ channel: s.Identifier("Name of the channel.") });

/** Far more than a message for people needs; the parts of a longer text would take minutes to send. */
const MAX_TEXT_CHARS = 65_536;
const DEFAULT_TEXT = "This is a test message of Signalbox.";

const testChannel = route({
  method: "post",
  path: "/api/channels/:channel/test",
  operationId: "testChannel",
  scopes: ["runs:write"],
  tag: "deliveries",
  summary: "Send a test message",
  description:
    "Sends a message to a channel, as a delivery like any other (202). Follow it in `GET /api/deliveries?channel=NAME`, where its `eventType` is `test`. A test waits neither for other deliveries to the recipient nor for the next try of a stopped channel, and it never changes where replies of the main session go.",
  example: examples.testChannel,
  schemas: {
    params,
    body: Type.Object(
      {
        to: Type.Optional(
          Recipient(
            "The recipient in the notation of the channel, such as a chat id. By default that of the main session's replies, if they go to this channel.",
          ),
        ),
        text: Type.Optional(
          Type.String({
            maxLength: MAX_TEXT_CHARS,
            pattern: "\\S",
            description: "The message in Markdown. By default a sentence that names Signalbox.",
          }),
        ),
      },
      s.named("ChannelTest"),
    ),
  },
  answers: { 202: Delivery },
  receipt: DeliveryReceipt,
  errors: ["channel_not_found"],
  audit: ({ params: { channel }, body: { to } }) => ({
    action: "channel.test",
    target: to === undefined ? channel : `${channel} ${to.trim()}`,
  }),
  async handler({ params: { channel }, body }, deps) {
    requireChannel(channel, deps);
    const { stores, queues, initialReplyTarget } = deps;
    const target = await stores.sessions.currentReplyTarget(initialReplyTarget);
    const to = body.to?.trim() ?? recipientOn(channel, target);
    if (to === null) throw invalidField("to", `is required: replies of the main session do not go to ${channel}`);
    await checkRecipient(deps, channel, to);
    const deliveryId = randomUUID();
    const event = { id: deliveryId, type: "test" as const, rule: null };
    const { text = DEFAULT_TEXT } = body;
    await stores.deliveries.add({ _id: deliveryId, runId: null, event, channel, to, text, fault: null });
    await queues.deliver({ deliveryId, channel });
    return { status: 202, body: viewDelivery(await stores.deliveries.find(deliveryId)) };
  },
});

const resume = route({
  method: "post",
  path: "/api/channels/:channel/resume",
  operationId: "resumeChannel",
  scopes: ["runs:write"],
  tag: "deliveries",
  summary: "Resume a stopped channel",
  description:
    "Makes the pending deliveries of a stopped channel try the credentials again at once (202), and returns the channel. It becomes `ready` once the service accepts them. The call is idempotent, and changes nothing for a channel that is not stopped. Correct the credentials and reload the configuration first.",
  example: examples.resumeChannel,
  schemas: { params },
  answers: { 202: Channel },
  errors: ["channel_not_found"],
  audit: ({ params: { channel } }) => ({ action: "channel.resume", target: channel }),
  async handler({ params: { channel } }, deps) {
    requireChannel(channel, deps);
    const { stores, queues, clock } = deps;
    const now = clock.now();
    const first = await resumeChannel(stores, channel, now);
    if (first) await queues.deliver({ deliveryId: first._id, channel }, { occasion: `resume-${now.getTime()}` });
    const { channels } = await readChannels(stores, deps, now);
    const found = channels.find((one) => one.channel === channel);
    if (!found) throw new Error("a configured channel is missing");
    return { status: 202, body: found };
  },
});

const check = route({
  method: "post",
  path: "/api/channels/:channel/check",
  operationId: "checkChannel",
  scopes: ["runs:write"],
  tag: "deliveries",
  summary: "Check the credentials of a channel",
  description:
    "Asks the service of a channel whether it accepts the credentials, without sending a message. A worker asks with its own configuration; if none answers within 15 seconds, the response is 503 `unavailable`.",
  example: examples.checkChannel,
  schemas: { params },
  answers: { 200: ChannelCheck },
  errors: ["channel_not_found"],
  audit: ({ params: { channel } }) => ({ action: "channel.check", target: channel }),
  async handler({ params: { channel } }, deps) {
    requireChannel(channel, deps);
    const { ok, detail } = (await deps.queues.call(channelCheck, { channel }, deps.channelCheckMs)) as CheckResult;
    return { status: 200, body: { channel, ok, detail } };
  },
});

type CheckResult = Pick<ChannelCheck, "ok" | "detail">;

/** @throws AppError channel_not_found */
export function requireChannel(channel: string, { channels }: Pick<ApiDeps, "channels">): void {
  if (!channels.has(channel)) throw new AppError("channel_not_found", { detail: unconfigured(channel) });
}

export const channelActionRoutes = [testChannel, resume, check];
