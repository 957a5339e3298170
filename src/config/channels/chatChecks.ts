import { sessionKeyFault } from "../../shared/sessionKey.ts";
import { type Agents, agentFault } from "../agents/agents.ts";
import { type Mapping, mappingKey } from "../mappings/mapping.ts";
import type { Check } from "../nodes.ts";
import type { Channels } from "./channels.ts";

/** The sections that these checks read. */
interface Checked {
  readonly agents: Agents;
  readonly channels: Channels;
  readonly hooks: { readonly mappings: readonly Mapping[] };
  readonly server: { readonly publicUrl?: string | undefined };
}

/** The checks of what people may do in chats. */
export const chatChecks: readonly Check<Checked>[] = [
  { reads: ["channels", "hooks", "agents.list"], find: inboundFaults },
  { reads: ["channels", "hooks", "server"], find: addressFaults },
  {
    reads: ["channels.ntfy", "server"],
    find: ({ channels: { ntfy }, server: { publicUrl } }) => [
      ntfy?.answers === true &&
        publicUrl === undefined &&
        "channels.ntfy.answers needs server.publicUrl, to which phones send the answers: set it",
    ],
  },
];

/** Returns a sentence for each fault in how the acts of people arrive. */
function addressFaults({ channels: { telegram, slack, discord }, hooks, server }: Checked): (string | false)[] {
  const named = new Set(hooks.mappings.map(({ match }) => match?.path));
  const taken = (channel: string, key: string, isUsed: boolean) =>
    isUsed &&
    named.has(channel) &&
    `channels.${channel}.${key} takes the requests to the hook ${channel}, which a mapping names too: give that mapping another match.path`;
  const idle = (key: string, allowFrom: unknown, isSet: boolean) =>
    isSet &&
    allowFrom === undefined &&
    `channels.${key} has no effect without channels.${key.split(".")[0]}.allowFrom: add the ids of those who may act`;
  const isWebhook = telegram?.inbound === "webhook";
  return [
    slack?.allowFrom !== undefined &&
      slack.signingSecret === undefined &&
      slack.appToken === undefined &&
      "channels.slack.allowFrom needs channels.slack.signingSecret, with which Slack signs what people do, or channels.slack.appToken for Socket Mode: set one",
    discord?.allowFrom !== undefined &&
      discord.publicKey === undefined &&
      "channels.discord.allowFrom needs channels.discord.publicKey, with which Discord signs presses: set it",
    isWebhook &&
      !server.publicUrl?.startsWith("https://") &&
      "channels.telegram.inbound webhook needs server.publicUrl with https, to which Telegram sends: set it",
    idle("slack.signingSecret", slack?.allowFrom, slack?.signingSecret !== undefined),
    idle("slack.appToken", slack?.allowFrom, slack?.appToken !== undefined),
    idle("discord.publicKey", discord?.allowFrom, discord?.publicKey !== undefined),
    idle("telegram.inbound", telegram?.allowFrom, isWebhook),
    taken("slack", "signingSecret", slack?.signingSecret !== undefined),
    taken("discord", "publicKey", discord?.publicKey !== undefined),
    taken("telegram", "inbound", isWebhook),
  ];
}

/** Returns a sentence for each fault in who may act through a channel, and where messages go. */
function inboundFaults({ agents, channels, hooks }: Checked): string[] {
  const names = hooks.mappings.map(mappingKey);
  return (["telegram", "slack"] as const).flatMap((name) => {
    const { allowFrom, owners = [], inbox } = channels[name] ?? {};
    const at = `channels.${name}`;
    const stranger = owners.find((id) => !allowFrom?.includes(id));
    const { sessionKey, mapping, agentId } = inbox ?? {};
    const unknown = agentFault(agents, agentId);
    const fault = sessionKey === undefined ? null : sessionKeyFault(sessionKey, undefined);
    return [
      stranger !== undefined && `${at}.owners names ${stranger}, who is not in ${at}.allowFrom: add the id there too`,
      inbox && !allowFrom && `${at}.inbox has no effect without ${at}.allowFrom: add the ids of those who may write`,
      inbox &&
        (sessionKey === undefined) === (mapping === undefined) &&
        `${at}.inbox needs sessionKey or mapping: set one`,
      fault !== null && `${at}.inbox.sessionKey ${fault}`,
      unknown !== null && `${at}.inbox.agentId ${unknown}`,
      agentId !== undefined &&
        mapping !== undefined &&
        `${at}.inbox.agentId has no effect with a mapping: set agentId in that mapping`,
      mapping !== undefined &&
        !names.includes(mapping) &&
        `${at}.inbox.mapping names no mapping: add one with the id ${mapping}`,
    ].filter((one) => typeof one === "string");
  });
}
