import Type from "typebox";
import { mailboxStatus } from "../../../gmail/listener/mailboxStatus.ts";
import { readChannels } from "../../../models/deliveries/readChannels.ts";
import * as s from "../../../wire/blocks.ts";
import * as channelExamples from "../../examples/channels.ts";
import * as examples from "../../examples/gateway.ts";
import { route } from "../../route.ts";
import { Channel, ReplyTarget } from "./schemas.ts";

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

const Fault = s.nullable(
  Type.Object(
    { since: s.Timestamp("When the failures started."), reason: Type.String({ description: "Why it fails." }) },
    s.named("MailboxFault"),
  ),
  { description: "Since when and why this part fails. Null if it works." },
);

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
        gmail: s.nullable(
          Type.Object(
            {
              ok: Type.Boolean({ description: "True if there is no problem." }),
              problems: Type.Array(Type.String(), {
                description: "One sentence for each problem, with what to do about it.",
              }),
              account: Type.String({ description: "Address of the mailbox." }),
              listener: s.nullable(
                Type.String({ description: "The process that listens, as `host:pid`. Null if none does." }),
              ),
              lagSeconds: s.nullable(s.Count("Seconds since the mailbox was last read completely.")),
              listedAt: s.TimestampOrNull("When the mailbox was last listed."),
              lastMailAt: s.TimestampOrNull("When a mail last started a run."),
              lastNoticeAt: s.TimestampOrNull("When the last notification of Gmail arrived."),
              watchExpiresAt: s.TimestampOrNull("When Gmail stops sending notifications unless the watch is renewed."),
              faults: Type.Object(
                { mails: Fault, notices: Fault, watch: Fault },
                {
                  ...s.named("MailboxFaults"),
                  description: "The faults of reading mails, receiving notifications and renewing the watch.",
                },
              ),
              lastError: s.nullable(
                Type.Object(
                  {
                    at: s.Timestamp("When the error occurred."),
                    reason: Type.String({ description: "The part that failed." }),
                  },
                  s.named("MailboxError"),
                ),
                { description: "The latest error, even if it is over. Null if there was none." },
              ),
            },
            s.named("Mailbox"),
          ),
          { description: "The state of the mailbox. Null if no mailbox is configured." },
        ),
      },
      s.named("MailboxState"),
    ),
  },
  errors: [],
  async handler(_input, { stores, hooks: { gmail }, clock }) {
    if (!gmail) return { status: 200, body: { gmail: null } };
    const status = mailboxStatus(gmail, await stores.gmailMailboxes.find(gmail.account), clock.now());
    // the schema describes the dates as strings, as JSON serializes them
    const serialized = JSON.parse(JSON.stringify({ ok: status.problems.length === 0, ...status }));
    return { status: 200, body: { gmail: serialized } };
  },
});

export const channelRoutes = [getChannels, getGmail];
