import Type from "typebox";
import { mailboxStatus } from "../../../gmail/listener/mailboxStatus.ts";
import { readChannels } from "../../../models/deliveries/readChannels.ts";
import * as s from "../../../wire/blocks.ts";
import { Channel, Mailbox, ReplyTarget } from "../../../wire/channel.ts";
import * as channelExamples from "../../examples/channels.ts";
import * as examples from "../../examples/gateway.ts";
import { route } from "../../routing/route.ts";

const getChannels = route({
  method: "get",
  path: "/api/channels",
  operationId: "listChannels",
  scopes: ["runs:read"],
  tag: "deliveries",
  summary: "List channels",
  description:
    "Returns every configured channel with its pending and failed deliveries, whether it is stopped, and the recipient of the main session's replies. Use it to check that a channel works.",
  example: channelExamples.listChannels,
  schemas: {},
  answers: {
    200: Type.Object(
      {
        channels: s.Rows(Channel),
        route: s.nullable(ReplyTarget, {
          description: "The recipient of replies of the main session. Null if no target is set.",
        }),
      },
      s.named("ChannelList"),
    ),
  },
  errors: [],
  async handler(_input, { stores, channels, initialReplyTarget, clock }) {
    return { status: 200, body: await readChannels(stores, { channels, initialReplyTarget }, clock.now()) };
  },
});

const getGmail = route({
  method: "get",
  path: "/api/gmail",
  operationId: "getGmail",
  scopes: ["runs:read"],
  tag: "deliveries",
  summary: "Get the state of the mailbox",
  description:
    "Returns whether the mail listener works, which problems it has and how to solve them. `gmail` is null when no mailbox is configured.",
  example: examples.getGmail,
  schemas: {},
  answers: {
    200: Type.Object(
      {
        gmail: s.nullable(Mailbox, {
          description: "The state of the mailbox. Null if no mailbox is configured.",
        }),
      },
      s.named("MailboxState"),
    ),
  },
  errors: [],
  async handler(_input, { stores, hooks: { gmail }, clock }) {
    if (!gmail) return { status: 200, body: { gmail: null } };
    const status = mailboxStatus(gmail, await stores.gmailMailboxes.find(gmail.account), clock.now());
    return { status: 200, body: { gmail: status } };
  },
});

export const channelRoutes = [getChannels, getGmail];
