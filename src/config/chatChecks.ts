import { sessionKeyFault } from "../shared/sessionKey.ts";
import { type Agents, agentFault } from "./agents.ts";
import type { Channels } from "./channels.ts";
import { type Mapping, mappingKey } from "./mappings/mapping.ts";
import type { Check } from "./nodes.ts";

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
  {
    reads: ["channels.slack", "hooks"],
    find: ({ channels: { slack }, hooks: { mappings } }) => [
      slack?.allowFrom !== undefined &&
        slack.signingSecret === undefined &&
        "channels.slack.allowFrom needs channels.slack.signingSecret, with which Slack signs what people do: set it",
      slack?.signingSecret !== undefined &&
        slack.allowFrom === undefined &&
        "channels.slack.signingSecret has no effect without channels.slack.allowFrom: add the ids of those who may act",
      slack?.signingSecret !== undefined &&
        mappings.some(({ match }) => match?.path === "slack") &&
        "channels.slack.signingSecret takes the requests to the hook slack, which a mapping names too: give that mapping another match.path",
    ],
  },
  {
    reads: ["channels.ntfy", "server"],
    find: ({ channels: { ntfy }, server: { publicUrl } }) => [
      ntfy?.answers === true &&
        publicUrl === undefined &&
        "channels.ntfy.answers needs server.publicUrl, to which phones send the answers: set it",
    ],
  },
];

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
