import Type, { type Static } from "typebox";
import { CHANNELS } from "../../shared/config/formats/channelNames.ts";
import { MAX_RECIPIENT } from "../../shared/config/schema/session.ts";
import { IDENTIFIER_PATTERN } from "../../shared/text.ts";

const NotBlank = (description: string) => Type.String({ pattern: "\\S", description });

/** Returns the schema of the field `timeoutSeconds` of a run. @param maximum `hooks.maxTimeoutSeconds` */
export const timeoutField = (maximum: number) =>
  Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum, description: "After so long the turn is aborted, and the run fails." }),
  );

/** The fields of a run of the agent that a sender or a transform may set. */
export const agentFields = {
  message: NotBlank("What the agent is told."),
  name: Type.Optional(Type.String({ maxLength: 256, description: "Begins the summary." })),
  sessionKey: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 256, pattern: IDENTIFIER_PATTERN },
      description: "A constant key continues its conversation.",
    }),
  ),
  wakeMode: Type.Optional(Type.Enum(["now", "next-heartbeat"])),
  deliver: Type.Optional(Type.Boolean({ description: "Whether the reply goes to a channel; true by default." })),
  channel: Type.Optional(Type.Enum(["last", ...CHANNELS], { description: "`last`: the main session's last channel." })),
  to: Type.Optional(
    Type.String({ maxLength: MAX_RECIPIENT, pattern: "\\S", description: "The recipient, as the channel names it." }),
  ),
  model: Type.Optional(NotBlank("A model of the allow-list, or its alias.")),
  thinking: Type.Optional(NotBlank("How hard the model thinks.")),
  timeoutSeconds: timeoutField(86_400),
};

/** The fields of an event of the main session that a sender or a transform may set. */
export const wakeFields = {
  text: NotBlank("What happened."),
  mode: Type.Optional(Type.Enum(["now", "next-heartbeat"], { description: "now (default): a turn at once." })),
};

const closed = { additionalProperties: false } as const;

/** A run of the agent that a mapping requests. */
export const MappedAgent = Type.Object({ kind: Type.Literal("agent"), ...agentFields }, closed);
/** An event of the main session that a mapping requests. */
export const MappedWake = Type.Object({ kind: Type.Literal("wake"), name: agentFields.name, ...wakeFields }, closed);

export type MappedAgent = Static<typeof MappedAgent>;
export type MappedWake = Static<typeof MappedWake>;
