import Type from "typebox";
import { CHANNELS } from "../formats/channelNames.ts";
import { block, duration, flag, section, text, whole } from "../nodes.ts";

/** How many UTF-16 units the name of a recipient may have. */
export const MAX_RECIPIENT = 512;

/** The section `session`. */
export const SessionSchema = section(
  {
    main: block(
      {
        channel: Type.Enum(CHANNELS, {
          examples: ["telegram"],
          description: "The channel; needed with `session.main.to`.",
        }),
        to: text({
          maxLength: MAX_RECIPIENT,
          pattern: "\\S",
          examples: ["123456789"],
          description: "The recipient, as the channel names it; needed with `session.main.channel`.",
        }),
      },
      "The main session's first route, until `signalbox route set` gives it another.",
    ),
    followDeliveries: flag({
      default: false,
      description:
        "Whether each reply that is delivered moves the main session's route to its recipient, whoever asked for it. On, anybody with the hook token can have later replies sent elsewhere.",
    }),
    maxMessages: whole({
      default: 50,
      minimum: 1,
      maximum: 1_000,
      description: "How many messages of a conversation are given to the agent, the newest.",
    }),
    maxChars: whole({
      default: 100_000,
      minimum: 1_000,
      maximum: 10_000_000,
      description: "How many characters of a conversation are given to the agent at most.",
    }),
    retainSingleUse: duration({
      default: "7d",
      description: "How long the transcripts of ended single-use sessions are kept.",
    }),
  },
  "Conversations.",
);
