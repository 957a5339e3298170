import type { Check } from "../nodes.ts";
import type { Channels } from "./channels.ts";

/** The names of the keys of channels that hold an address. */
const ADDRESSES = ["apiUrl", "loginUrl", "baseUrl"] as const;

export const channelChecks: readonly Check<{ readonly channels: Channels }>[] = [
  {
    reads: ["channels"],
    find: ({ channels }) =>
      Object.entries(channels).flatMap(([name, settings]) =>
        ADDRESSES.flatMap((key) => {
          const address = (settings as Record<string, unknown> | undefined)?.[key];
          return typeof address === "string" ? [addressFault(address, name, key)] : [];
        }),
      ),
  },
  { reads: ["channels"], find: ({ channels }) => [credentialFault(channels)] },
  { reads: ["channels.imessage"], find: ({ channels }) => idleMessageOptions(channels.imessage) },
];

/** The channels whose requests use the header that would carry an address's user and password. */
const WITH_AUTHORIZATION = ["slack", "discord", "mattermost", "msteams", "whatsapp"];

function addressFault(address: string, channel: string, key: string): string | false {
  const url = URL.parse(address);
  if (!url) return `channels.${channel}.${key} is not a valid URL`;
  return (
    url.username + url.password !== "" &&
    WITH_AUTHORIZATION.includes(channel) &&
    `channels.${channel}.${key} must have no user and password: its requests carry the channel's own credentials in their place`
  );
}

/** Returns a sentence about credentials of a channel that do not fit together. */
function credentialFault({ email, ntfy }: Channels): string | false {
  if (email && (email.username === undefined) !== (email.password === undefined)) {
    const [given, missing] = email.username === undefined ? ["password", "username"] : ["username", "password"];
    return `channels.email has a ${given} and no ${missing}: set both, or neither for a server without a log-in`;
  }
  const { username, password } = URL.parse(ntfy?.baseUrl ?? "") ?? { username: "", password: "" };
  return (
    ntfy?.token !== undefined &&
    username + password !== "" &&
    "channels.ntfy has a token, so its baseUrl must have no user and password: remove one of them"
  );
}

const BLUEBUBBLES = { apiUrl: "http://127.0.0.1:1234", password: undefined, method: "apple-script" } as const;

function idleMessageOptions(imessage: Channels["imessage"]): (string | false)[] {
  if (!imessage) return [];
  const unread =
    imessage.kind === "imsg"
      ? (Object.keys(BLUEBUBBLES) as (keyof typeof BLUEBUBBLES)[]).filter((key) => imessage[key] !== BLUEBUBBLES[key])
      : imessage.command.join() === "imsg"
        ? []
        : ["command"];
  return unread.map((key) => `channels.imessage.${key} has no effect with kind ${imessage.kind}: remove it`);
}
