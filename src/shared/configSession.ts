import Type from "typebox";
import { block, duration, section, text, whole } from "./configNodes.ts";

/** Where replies can go. */
export const CHANNELS = [
  "whatsapp",
  "telegram",
  "discord",
  "slack",
  "mattermost",
  "signal",
  "imessage",
  "msteams",
  "log",
] as const;

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
          examples: ["123456789"],
          description: "The recipient, as the channel names it; needed with `session.main.channel`.",
        }),
      },
      "The main session's first route, until a delivery gives it another.",
    ),
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
