import Type from "typebox";
import { MAX_RECIPIENT } from "../../../config/session.ts";
import * as s from "../../../wire/blocks.ts";

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

export const ReplyTarget = Type.Object(
  {
    channel: Type.String({ description: "Name of the channel." }),
    to: Type.String({ description: "The recipient in the notation of the channel." }),
  },
  s.named("ReplyTarget"),
);

/** Returns the schema of a recipient in a request. */
export const Recipient = (description: string) =>
  Type.String({ maxLength: MAX_RECIPIENT, pattern: "\\S", description });
