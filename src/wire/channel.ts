import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";

/** The state of a channel and its deliveries. */
export const Channel = Type.Object(
  {
    channel: Type.String({ description: "Name of the channel." }),
    configured: Type.Boolean({ description: "Whether the configuration has this channel." }),
    pending: s.Count("Number of deliveries that wait or are being sent."),
    failed: s.Count("Number of deliveries of the last 24 hours that failed."),
    lastSentAt: s.TimestampOrNull("When a delivery was last sent. Null if none was sent in 24 hours."),
    lastFailure: s.nullable(Type.String(), {
      description: "Why the latest of the failed deliveries failed.",
    }),
    state: Type.Enum(["ready", "stopped"], {
      description:
        "`stopped` while pending deliveries wait because the service refuses the credentials, otherwise `ready`.",
    }),
    stoppedSince: s.TimestampOrNull("When the service first refused the credentials. Null if `ready`."),
    reason: s.nullable(Type.String(), { description: "Why the channel is stopped. Null if `ready`." }),
    nextTryAt: s.TimestampOrNull(
      "When a delivery tries the credentials again. Null if `ready`, or if one is tried now.",
    ),
  },
  s.named("Channel"),
);
export type Channel = Static<typeof Channel>;

/** The channel and recipient to which replies of the main session are sent. */
export const ReplyTarget = Type.Object(
  {
    channel: Type.String({ description: "Name of the channel." }),
    to: Type.String({ description: "The recipient in the notation of the channel." }),
  },
  s.named("ReplyTarget"),
);
export type ReplyTarget = Static<typeof ReplyTarget>;

/** The recipient of replies of the main session, and who has set it. */
export const CurrentReplyTarget = Type.Object(
  {
    replyTarget: s.nullable(ReplyTarget, { description: "The recipient of the replies. Null if no target is set." }),
    source: s.nullable(Type.Enum(["set", "configuration"]), {
      description:
        "`set`: by an operator, or by a delivery if `session.followDeliveries` is on. `configuration`: by `session.main`. Null if no target is set.",
    }),
  },
  s.named("CurrentReplyTarget"),
);
export type CurrentReplyTarget = Static<typeof CurrentReplyTarget>;

/** Whether the service of a channel accepts the credentials. */
export const ChannelCheck = Type.Object(
  {
    channel: Type.String({ description: "Name of the channel." }),
    ok: Type.Boolean({ description: "Whether the service accepts the credentials." }),
    detail: Type.String({ description: "The account of the credentials, or what is wrong." }),
  },
  s.named("ChannelCheck"),
);
export type ChannelCheck = Static<typeof ChannelCheck>;

export const MailboxFault = Type.Object(
  { since: s.Timestamp("When the failures started."), reason: Type.String({ description: "Why it fails." }) },
  s.named("MailboxFault"),
);
const Fault = s.nullable(MailboxFault, { description: "Since when and why this part fails. Null if it works." });

/** The state of listening to a mailbox. */
export const Mailbox = Type.Object(
  {
    ok: Type.Boolean({ description: "True if there is no problem." }),
    problems: Type.Array(Type.String(), {
      description: "One sentence for each problem, with what to do about it.",
    }),
    account: Type.String({ description: "Address of the mailbox." }),
    listener: s.nullable(Type.String({ description: "The process that listens, as `host:pid`. Null if none does." })),
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
);
export type Mailbox = Static<typeof Mailbox>;
