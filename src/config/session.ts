import Type, { type Static } from "typebox";
import { CHANNELS } from "../shared/channelNames.ts";
import { MAX_RECIPIENT } from "../shared/text/text.ts";
import { recipientFault } from "./channels/recipients.ts";
import { type Check, duration, type Frozen, optionalSection, section, text } from "./nodes.ts";

/** The section `session`. */
export const SessionSchema = section(
  {
    main: optionalSection(
      {
        channel: Type.Enum(CHANNELS, {
          examples: ["telegram"],
          description: "Channel for replies of the main session. Requires `session.main.to`.",
        }),
        to: text({
          maxLength: MAX_RECIPIENT,
          pattern: "\\S",
          examples: ["123456789"],
          description: "Recipient in the notation of the channel. Requires `session.main.channel`.",
        }),
      },
      "Where replies of the main session go until `signalbox route set` changes it.",
    ),
    followDeliveries: Type.Boolean({
      default: false,
      description:
        "Whether replies of the main session go to the recipient of the latest delivered reply. If it is on, everyone with the hook token can redirect later replies.",
    }),
    maxMessages: Type.Integer({
      default: 50,
      minimum: 1,
      maximum: 1_000,
      description: "Maximum number of messages of a conversation that the agent receives. It receives the newest.",
    }),
    maxChars: Type.Integer({
      default: 100_000,
      minimum: 1_000,
      maximum: 10_000_000,
      description: "Maximum number of characters of a conversation that the agent receives.",
    }),
    retainSingleUse: duration({
      default: "7d",
      description: "How long the transcripts of sessions that belong to a single run are kept.",
    }),
  },
  "Conversations of the agent.",
);

type Session = Frozen<Static<typeof SessionSchema>>;

export const sessionChecks: readonly Check<{ readonly session: Session }>[] = [
  {
    reads: ["session.main"],
    find: ({ session: { main } }) => {
      const fault = main && recipientFault(main.channel, main.to);
      return [fault && `session.main.to ${fault}`];
    },
  },
];
