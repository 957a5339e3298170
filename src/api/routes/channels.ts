import Type from "typebox";
import { mailboxStatus } from "../../gmail/listener/mailboxStatus.ts";
import { readChannels } from "../../models/deliveries/readChannels.ts";
import * as examples from "../examples/gateway.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;

const getChannels = route({
  method: "get",
  path: "/api/channels",
  operationId: "listChannels",
  tag: "deliveries",
  summary: "List channels",
  description:
    "Returns every configured channel with its pending and failed deliveries, and the recipient of the main session's replies. Use it to check that a channel works.",
  example: examples.listChannels,
  schemas: {},
  answers: {
    200: Type.Object(
      {
        channels: s.Rows(
          Type.Object(
            {
              channel: Type.String({ description: "Name of the channel." }),
              configured: Type.Boolean({ description: "Whether the configuration has this channel." }),
              pending: s.Count("Number of deliveries that wait or are being sent."),
              failed: s.Count("Number of deliveries of the last 24 hours that failed."),
              lastSentAt: s.TimestampOrNull("When a delivery was last sent. Null if none was sent in 24 hours."),
              lastFailure: s.nullable(Type.String(), {
                description: "Why the latest of the failed deliveries failed.",
              }),
            },
            closed,
          ),
        ),
        route: s.nullable(
          Type.Object(
            {
              channel: Type.String({ description: "Name of the channel." }),
              to: Type.String({ description: "The recipient in the notation of the channel." }),
            },
            closed,
          ),
          {
            description: "The recipient of replies of the main session. Null if no target is set.",
          },
        ),
      },
      closed,
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
    closed,
  ),
  { description: "Since when and why this part fails. Null if it works." },
);

const getGmail = route({
  method: "get",
  path: "/api/gmail",
  operationId: "getGmail",
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
                  ...closed,
                  description: "The faults of reading mails, receiving notifications and renewing the watch.",
                },
              ),
              lastError: s.nullable(
                Type.Object(
                  {
                    at: s.Timestamp("When the error occurred."),
                    reason: Type.String({ description: "The part that failed." }),
                  },
                  closed,
                ),
                { description: "The latest error, even if it is over. Null if there was none." },
              ),
            },
            closed,
          ),
          { description: "The state of the mailbox. Null if no mailbox is configured." },
        ),
      },
      closed,
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
