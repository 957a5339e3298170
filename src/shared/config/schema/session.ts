import Type from "typebox";
import { CHANNELS } from "../formats/channelNames.ts";
import { boolean, duration, integer, optionalSection, section, text } from "../nodes.ts";

/** Maximum length of a recipient's name, in UTF-16 units. */
export const MAX_RECIPIENT = 512;

/** The section `session`. */
export const SessionSchema = section(
  {
    main: optionalSection(
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
    followDeliveries: boolean({
      default: false,
      description:
        "Whether each reply that is delivered moves the main session's route to its recipient, whoever asked for it. On, anybody with the hook token can have later replies sent elsewhere.",
    }),
    maxMessages: integer({
      default: 50,
      minimum: 1,
      maximum: 1_000,
      description: "How many messages of a conversation are given to the agent, the newest.",
    }),
    maxChars: integer({
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
