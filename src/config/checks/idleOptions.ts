import type { Config } from "../schema/config.ts";

type Mapping = Config["hooks"]["mappings"][number];
type Key = keyof Mapping;

/** The keys of a mapping that its action never reads. A transform may choose another action, and then they are read. */
const UNREAD: Readonly<Record<Mapping["action"], readonly Key[]>> = {
  agent: ["textTemplate"],
  wake: [
    "messageTemplate",
    "sessionKey",
    "deliver",
    "channel",
    "to",
    "model",
    "thinking",
    "timeoutSeconds",
    "trackAsJob",
    "instructions",
    "allowUnsafeExternalContent",
  ],
};

/** The values of keys that are not written in the file. */
const DEFAULTS: Partial<Record<Key, unknown>> = { deliver: true, channel: "last", allowUnsafeExternalContent: false };

/**
 * Returns a sentence, beginning with the key, for each option of a mapping that nothing reads. A recipient beside
 * `deliver: false` is allowed, because `deliver` is a switch that an operator turns off for a while.
 */
export function idleMappingOptions(mapping: Mapping): string[] {
  const { action, transform } = mapping;
  if (transform) return [];
  const isSet = (key: Key) => mapping[key] !== undefined && mapping[key] !== DEFAULTS[key];
  const other = action === "wake" ? "agent" : "wake";
  const unread = UNREAD[action].filter(isSet);
  return unread.map((key) => `${key} has no effect with action ${action}: remove it, or set action to ${other}`);
}

/** Returns a sentence for each option of a runner or a channel that nothing reads. */
export function idleOptions({ agents, channels }: Pick<Config, "agents" | "channels">): (string | false)[] {
  const { command } = agents.runners;
  return [
    command?.output === "text" &&
      command.replyField !== "result" &&
      "agents.runners.command.replyField has no effect with output text: remove it, or set output to json",
    ...idleMessageOptions(channels.imessage),
  ];
}

const BLUEBUBBLES = { apiUrl: "http://127.0.0.1:1234", password: undefined, method: "apple-script" } as const;

function idleMessageOptions(imessage: Config["channels"]["imessage"]): (string | false)[] {
  if (!imessage) return [];
  const unread =
    imessage.kind === "imsg"
      ? (Object.keys(BLUEBUBBLES) as (keyof typeof BLUEBUBBLES)[]).filter((key) => imessage[key] !== BLUEBUBBLES[key])
      : imessage.command.join() === "imsg"
        ? []
        : ["command"];
  return unread.map((key) => `channels.imessage.${key} has no effect with kind ${imessage.kind}: remove it`);
}
