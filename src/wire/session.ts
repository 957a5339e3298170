import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";
import { ReturnOf } from "./runs/return.ts";

/** A conversation of the agent. */
export const Session = Type.Object(
  {
    sessionKey: Type.String({ description: "Identifies the conversation." }),
    agentId: s.nullable(Type.String(), {
      description: "The agent of `agents.list` to which it belongs; null for that of `agents.defaults`.",
    }),
    lastUsedAt: s.Timestamp("When the latest turn started."),
    busy: Type.Boolean({ description: "Whether a turn is running." }),
  },
  s.named("Session"),
);
export type Session = Static<typeof Session>;

/** A message of a conversation. */
export const Message = Type.Object(
  {
    messageId: Type.String({ description: "Identifies the message." }),
    runId: s.nullable(Type.String(), { description: "The run of the turn; null for a turn of the main session." }),
    role: Type.Enum(["user", "return", "assistant"], {
      description:
        "`user`: the prompt. `return`: the news of jobs that the session started, which nobody typed. `assistant`: the reply.",
    }),
    content: Type.String({ description: "The text of the message." }),
    returnOf: Type.Array(ReturnOf, {
      description: "The transitions of jobs that a message with the role `return` is about; empty for other messages.",
    }),
    createdAt: s.Timestamp("When the turn of the message ended."),
  },
  s.named("Message"),
);
export type Message = Static<typeof Message>;

/** An event that waits for the next turn of the main session. */
export const WaitingEvent = Type.Object(
  {
    eventId: Type.String({ description: "Identifies the event." }),
    text: Type.String({ description: "The text of the event." }),
    source: Type.String({ description: "The source of the event." }),
    createdAt: s.Timestamp("When the event was accepted."),
  },
  s.named("WaitingEvent"),
);
