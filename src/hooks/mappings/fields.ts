import Type, { type Static } from "typebox";
import { CHANNELS } from "../../shared/channelNames.ts";
import { IDENTIFIER_PATTERN, MAX_RECIPIENT } from "../../shared/text/text.ts";

const NotBlank = (description: string) => Type.String({ pattern: "\\S", description });

/** Returns the schema of the field `timeoutSeconds` of a run. @param maximum `hooks.maxTimeoutSeconds` */
export const timeoutField = (maximum: number) =>
  Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum,
      description: "Time limit of the run in seconds. The default is `agents.defaults.timeoutSeconds`.",
    }),
  );

/** The fields of a run of the agent that a sender or a transform may set. */
export const agentFields = {
  message: NotBlank("The message for the agent."),
  name: Type.Optional(
    Type.String({ maxLength: 256, description: "A name for people. The summary for the main session starts with it." }),
  ),
  sessionKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: IDENTIFIER_PATTERN,
      description:
        "Runs with the same key share a conversation and are processed in order. By default each run has its own.",
    }),
  ),
  wakeMode: Type.Optional(
    Type.Enum(["now", "next-heartbeat"], {
      description:
        "When the main session reads the summary of the run: at once (`now`, the default) or at the next heartbeat.",
    }),
  ),
  deliver: Type.Optional(Type.Boolean({ description: "Whether the reply is sent to a channel. The default is true." })),
  channel: Type.Optional(
    Type.Enum(["last", ...CHANNELS], {
      description: "The channel for the reply. `last` (the default) is where replies of the main session go.",
    }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: MAX_RECIPIENT,
      pattern: "\\S",
      description: "The recipient in the notation of the channel, such as a chat id.",
    }),
  ),
  agentId: Type.Optional(
    NotBlank(
      "An agent of `agents.list`. The default is that of the session, or `agents.defaults` for a new session. A session belongs to one agent.",
    ),
  ),
  model: Type.Optional(NotBlank("A model id or alias of `agents.defaults.models`, or of the agent's own `models`.")),
  thinking: Type.Optional(NotBlank("The reasoning effort, in the notation of the model server: `low`, `high`.")),
  timeoutSeconds: timeoutField(86_400),
};

/** The fields of an event of the main session that a sender or a transform may set. */
export const wakeFields = {
  text: NotBlank("The text for the agent, which describes the event."),
  mode: Type.Optional(
    Type.Enum(["now", "next-heartbeat"], {
      description: "When the agent reads the event: at once (`now`, the default) or at the next heartbeat.",
    }),
  ),
};

const closed = { additionalProperties: false } as const;

/** A run of the agent that a mapping requests. */
export const MappedAgent = Type.Object({ kind: Type.Literal("agent"), ...agentFields }, closed);
/** An event of the main session that a mapping requests. */
export const MappedWake = Type.Object({ kind: Type.Literal("wake"), name: agentFields.name, ...wakeFields }, closed);

export type MappedAgent = Static<typeof MappedAgent>;
export type MappedWake = Static<typeof MappedWake>;
