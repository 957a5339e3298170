import Type from "typebox";
import { mailboxStatus } from "../../gmail/listener/mailboxStatus.ts";
import { readChannels } from "../../models/deliveries/readChannels.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;

const getChannels = route({
  method: "get",
  path: "/api/channels",
  operationId: "listChannels",
  tag: "deliveries",
  summary: "How deliveries to each channel go, and where the main session's replies go",
  schemas: {},
  answers: {
    200: Type.Object(
      {
        channels: Type.Array(
          Type.Object(
            {
              channel: Type.String(),
              configured: Type.Boolean(),
              pending: s.Count("Deliveries that wait or are being sent."),
              failed: s.Count("Deliveries of the last 24 hours that have failed."),
              lastSentAt: s.TimestampOrNull("When one of the last 24 hours was last sent."),
              lastFailure: s.nullable(Type.String({ description: "Why the latest of those failed." })),
            },
            closed,
          ),
        ),
        route: s.nullable(Type.Object({ channel: Type.String(), to: Type.String() }, closed), {
          description: "The main session's last recipient, or its first.",
        }),
      },
      closed,
    ),
  },
  errors: [],
  async handler(_input, { stores, channels, initialReplyTarget, clock }) {
    return { status: 200, body: await readChannels(stores, { channels, initialReplyTarget }, clock.now()) };
  },
});

const Fault = s.nullable(Type.Object({ since: s.Timestamp("Of the first failure."), reason: Type.String() }, closed));

const getGmail = route({
  method: "get",
  path: "/api/gmail",
  operationId: "getGmail",
  tag: "deliveries",
  summary: "How listening to the mailbox goes; null where none is configured",
  schemas: {},
  answers: {
    200: Type.Object(
      {
        gmail: s.nullable(
          Type.Object(
            {
              ok: Type.Boolean({ description: "There is no problem." }),
              problems: Type.Array(Type.String(), { description: "What is wrong, and what to do." }),
              account: Type.String(),
              listener: s.nullable(Type.String({ description: "The process that listens, as host:pid." })),
              lagSeconds: s.nullable(s.Count("A mail that came longer ago is a run.")),
              listedAt: s.TimestampOrNull("When the mailbox was last listed."),
              lastMailAt: s.TimestampOrNull("When a mail last became a run."),
              lastNoticeAt: s.TimestampOrNull("When Gmail last told of a change."),
              watchExpiresAt: s.TimestampOrNull("Until when Gmail sends notices."),
              faults: Type.Object({ mails: Fault, notices: Fault, watch: Fault }, closed),
              lastError: s.nullable(Type.Object({ at: s.Timestamp("When."), reason: Type.String() }, closed)),
            },
            closed,
          ),
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
