import Type, { type Static } from "typebox";
import { type Frozen, optionalSection, section, text } from "../nodes.ts";

/** The characters of a mail address, without quoted names and comments, which hardly anybody uses. */
const ADDRESS = '[^\\s@<>()\\[\\]\\\\,;:"]+@[^\\s@<>()\\[\\]\\\\,;:"]+';

/** The pattern of a sender: an address, or a name and an address in angle brackets. */
const MAIL_SENDER_PATTERN = `^(${ADDRESS}|[^<>\\r\\n"]*<${ADDRESS}>)$`;

const RECIPIENT = new RegExp(`^${ADDRESS}$`);
/** Maximum characters of an address (RFC 5321, 4.5.3.1.3). */
const MAX_ADDRESS_CHARS = 254;

/** Returns whether a text is one mail address. */
export const isMailAddress = (text: string): boolean => text.length <= MAX_ADDRESS_CHARS && RECIPIENT.test(text);

/** Splits a sender that matches `MAIL_SENDER_PATTERN` into its name, which may be empty, and its address. */
export function readMailSender(sender: string): { readonly name: string; readonly address: string } {
  const [, name = "", address = sender] = /^([^<]*)<([^<>]*)>$/.exec(sender) ?? [];
  return { name: name.trim(), address };
}

const secret = (description: string) => text({ description, secret: true, examples: ["a secret"] });
const url = (description: string, example: string) =>
  text({ description, pattern: "^https?://.", secret: "credentials", examples: [example] });
const defaultUrl = (address: string, what = "Address of the API. Change it to use a proxy or a self-hosted server.") =>
  text({ default: address, pattern: "^https?://.", secret: "credentials", examples: [address], description: what });

/** The people who may act through a channel, by the service's ids. */
const people = (who: string, example: string, acts = ", and continue sessions by answering replies") =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: 1_000,
    uniqueItems: true,
    examples: [[example]],
    description: `Ids of the ${who} who may answer questions with the buttons of their messages${acts}. Without it, messages have no buttons and nobody is read.`,
  });

/** Those of `allowFrom` whom the operator trusts, and where messages go that answer nothing. */
const trust = (who: string, example: string) => ({
  owners: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 1_000,
      uniqueItems: true,
      examples: [[example]],
      description: `Ids of the ${who} of \`allowFrom\` whose messages go to the agent as they are. The messages of the others are marked as text from outside.`,
    }),
  ),
  inbox: optionalSection(
    {
      sessionKey: Type.Optional(
        text({ maxLength: 512, examples: ["team"], description: "Session of these messages." }),
      ),
      mapping: Type.Optional(
        text({
          examples: ["chat"],
          description: "Name of the mapping that takes these messages, as if each were a request.",
        }),
      ),
      agentId: Type.Optional(
        text({
          examples: ["reviewer"],
          description: "Agent of a session that begins here, of `agents.list`. A mapping has its own.",
        }),
      ),
    },
    "Where messages go that answer no reply. Without it they are ignored. Either `sessionKey` or `mapping` is required.",
  ),
});

/** The section `channels`: one block for each channel. */
export const ChannelsSchema = section(
  {
    telegram: optionalSection(
      {
        botToken: secret("Token of the bot, from @BotFather."),
        apiUrl: defaultUrl("https://api.telegram.org"),
        inbound: Type.Enum(["polling", "webhook"], {
          default: "polling",
          description:
            "How presses and messages arrive: a worker asks Telegram for them, or Telegram sends them to `/telegram` below `hooks.path`. A webhook needs `server.publicUrl` with `https`.",
        }),
        allowFrom: Type.Optional(people("users", "123456789")),
        ...trust("users", "123456789"),
      },
      "Telegram, as a bot. A recipient is a chat id, `@channel`, or `chat:topic`.",
    ),
    slack: optionalSection(
      {
        botToken: secret(
          "Token of the bot (`xoxb-…`) with the scope `chat:write`, and `im:write` to send direct messages.",
        ),
        apiUrl: defaultUrl("https://slack.com/api"),
        signingSecret: Type.Optional(
          secret(
            "Signing secret of the app, with which Slack signs events and presses of buttons. They arrive at `/slack` below `hooks.path`.",
          ),
        ),
        appToken: Type.Optional(
          secret(
            "App-level token (`xapp-…`) with the scope `connections:write`. A worker then connects to Slack (Socket Mode), which needs no public address.",
          ),
        ),
        allowFrom: Type.Optional(people("users", "U0123ABCD")),
        ...trust("users", "U0123ABCD"),
      },
      "Slack, as a bot. A recipient is a channel id, `#name`, a user id, or `channel:thread_ts`.",
    ),
    discord: optionalSection(
      {
        botToken: secret("Token of the bot."),
        apiUrl: defaultUrl("https://discord.com/api/v10"),
        publicKey: Type.Optional(
          text({
            pattern: "^[0-9a-fA-F]{64}$",
            description:
              "Public key of the application, with which Discord signs presses of buttons. They arrive at `/discord` below `hooks.path`.",
            examples: ["0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
          }),
        ),
        allowFrom: Type.Optional(people("users", "80351110224678912", "")),
      },
      "Discord, as a bot. A recipient is the id of a channel or thread, or `user:ID`.",
    ),
    mattermost: optionalSection(
      {
        apiUrl: url("Address of the Mattermost server.", "https://chat.example.com"),
        botToken: secret("Access token of a bot or a user."),
        maxPostLength: Type.Integer({
          default: 4_000,
          minimum: 100,
          maximum: 65_535,
          description: "Maximum length of a post in characters. Servers since version 5.0 allow `16383`.",
        }),
      },
      "Mattermost. A recipient is a channel id, `user:ID`, `@name` or `team/channel`. `CHANNEL:ROOT` is a thread.",
    ),
    msteams: optionalSection(
      {
        appId: text({ description: "App id of the bot.", examples: ["00000000-0000-0000-0000-000000000000"] }),
        appPassword: secret("Client secret of the bot."),
        tenantId: text({
          description: "Id of the tenant. `botframework.com` for an old multi-tenant bot.",
          examples: ["contoso-tenant-id"],
        }),
        apiUrl: defaultUrl(
          "https://smba.trafficmanager.net/teams",
          "Service URL of the Bot Connector, as conversations contain it.",
        ),
        loginUrl: defaultUrl("https://login.microsoftonline.com", "Address from which access tokens are requested."),
      },
      "Microsoft Teams, as a bot. A recipient is a conversation id.",
    ),
    whatsapp: optionalSection(
      {
        accessToken: secret("Access token of a system user."),
        phoneNumberId: text({ description: "Id of the phone number that sends.", examples: ["106540352242922"] }),
        apiUrl: defaultUrl("https://graph.facebook.com"),
      },
      "WhatsApp, through the Cloud API. A recipient is a phone number with country code.",
    ),
    signal: optionalSection(
      {
        account: text({
          pattern: "^\\+\\d{5,15}$",
          description: "Phone number that sends.",
          examples: ["+4915100000000"],
        }),
        kind: Type.Enum(["rest", "daemon"], {
          default: "rest",
          description:
            "The server that is used: `rest` is signal-cli-rest-api, `daemon` is `signal-cli daemon --http`.",
        }),
        apiUrl: defaultUrl(
          "http://127.0.0.1:8080",
          "Address of the server. The server has no authentication, so it must not be reachable by others.",
        ),
      },
      "Signal. A recipient is a phone number, a UUID, `group.…` or `u:name`.",
    ),
    imessage: optionalSection(
      {
        kind: Type.Enum(["bluebubbles", "imsg"], {
          default: "bluebubbles",
          description: "The sender: a BlueBubbles server, or the command `imsg` on this Mac.",
        }),
        apiUrl: defaultUrl("http://127.0.0.1:1234", "For `bluebubbles`: address of the server."),
        password: Type.Optional(secret("For `bluebubbles`: password of the server.")),
        method: Type.Enum(["apple-script", "private-api"], {
          default: "apple-script",
          description: "For `bluebubbles`: how the server sends messages.",
        }),
        command: Type.Array(Type.String({ minLength: 1 }), {
          default: ["imsg"],
          minItems: 1,
          examples: [["imsg"]],
          description: "For `imsg`: the program and its first arguments, such as a wrapper that uses SSH.",
        }),
      },
      "iMessage. A recipient is a phone number, a mail address, or the guid of a chat.",
    ),
    ntfy: optionalSection(
      {
        baseUrl: defaultUrl("https://ntfy.sh", "Address of the ntfy server."),
        token: Type.Optional(
          secret("Access token, for topics that are not public. Without it messages are published anonymously."),
        ),
        priority: Type.Integer({
          default: 3,
          minimum: 1,
          maximum: 5,
          description: "Priority of the messages, from 1 (no sound) to 5 (until the phone is picked up).",
        }),
        answers: Type.Boolean({
          default: false,
          description:
            "Whether messages about questions have buttons that answer them. Whoever reads the topic may press them, so the topic must be protected. Needs `server.publicUrl`.",
        }),
      },
      "ntfy, for notifications on phones and desktops. A recipient is a topic.",
    ),
    email: optionalSection(
      {
        host: text({ description: "Name of the SMTP server.", examples: ["smtp.example.com"] }),
        port: Type.Integer({
          default: 587,
          minimum: 1,
          maximum: 65_535,
          description: "Port of the SMTP server. With `security` `tls` it is usually `465`.",
        }),
        security: Type.Enum(["starttls", "tls", "none"], {
          default: "starttls",
          description:
            "Encryption: `starttls` begins it after the greeting and refuses a server without it, `tls` begins with it. `none` is for a server on the same machine.",
        }),
        username: Type.Optional(text({ description: "Name of the account.", examples: ["signalbox"] })),
        password: Type.Optional(secret("Password of the account.")),
        from: text({
          pattern: MAIL_SENDER_PATTERN,
          examples: ["signalbox@example.com", "Signalbox <signalbox@example.com>"],
          description: "Sender of the mails: a mail address, or a name with the address in angle brackets.",
        }),
      },
      "Mail through an SMTP server. A recipient is a mail address.",
    ),
    log: optionalSection({}, "For development: deliveries are logged, without their text, and count as sent."),
  },
  "Chat services to which replies are sent. Each section turns one channel on.",
);

export type Channels = Frozen<Static<typeof ChannelsSchema>>;
