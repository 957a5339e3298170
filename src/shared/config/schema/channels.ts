import Type from "typebox";
import { optionalSection, section, text } from "../nodes.ts";

const secret = (description: string) => text({ description, secret: true, examples: ["a secret"] });
const url = (description: string, example: string) =>
  text({ description, pattern: "^https?://.", secret: "credentials", examples: [example] });
const defaultUrl = (address: string, what = "Another server than the service's own: a proxy, a self-hosted one.") =>
  text({ default: address, pattern: "^https?://.", secret: "credentials", examples: [address], description: what });

/** The section `channels`: one block for each channel. */
export const ChannelsSchema = section(
  {
    telegram: optionalSection(
      {
        botToken: secret("The bot's token, from @BotFather."),
        apiUrl: defaultUrl("https://api.telegram.org"),
      },
      "Telegram, as a bot. A recipient is a chat's id, `@channel`, or `chat:topic`.",
    ),
    slack: optionalSection(
      {
        botToken: secret("The bot's token (`xoxb-…`) with the scope `chat:write`; `im:write` to write to users."),
        apiUrl: defaultUrl("https://slack.com/api"),
      },
      "Slack, as a bot. A recipient is a channel's id, `#name`, a user's id, or `channel:thread_ts`.",
    ),
    discord: optionalSection(
      {
        botToken: secret("The bot's token."),
        apiUrl: defaultUrl("https://discord.com/api/v10"),
      },
      "Discord, as a bot. A recipient is a channel's or thread's id, or `user:ID`.",
    ),
    mattermost: optionalSection(
      {
        apiUrl: url("The site, such as `https://chat.example.com`.", "https://chat.example.com"),
        botToken: secret("A bot's or a personal access token."),
        maxPostLength: Type.Integer({
          default: 4_000,
          minimum: 100,
          maximum: 65_535,
          description: "Longest post in characters; 16383 with a database of today.",
        }),
      },
      "Mattermost. A recipient is a channel's id, `user:ID`, `@name` or `team/channel`; `CHANNEL:ROOT` is a thread.",
    ),
    msteams: optionalSection(
      {
        appId: text({ description: "The bot's app id.", examples: ["00000000-0000-0000-0000-000000000000"] }),
        appPassword: secret("The bot's client secret."),
        tenantId: text({
          description: "The tenant's id; `botframework.com` for an old multi-tenant bot.",
          examples: ["contoso-tenant-id"],
        }),
        apiUrl: defaultUrl(
          "https://smba.trafficmanager.net/teams",
          "The connector's service URL, as conversations name it.",
        ),
        loginUrl: defaultUrl("https://login.microsoftonline.com", "Where tokens come from."),
      },
      "Microsoft Teams, as a bot. A recipient is a conversation's id.",
    ),
    whatsapp: optionalSection(
      {
        accessToken: secret("A token of a system user."),
        phoneNumberId: text({ description: "The id of the number that sends.", examples: ["106540352242922"] }),
        apiVersion: text({
          default: "v26.0",
          pattern: "^v\\d+\\.\\d+$",
          examples: ["v26.0"],
          description: "The Graph API's version.",
        }),
        apiUrl: defaultUrl("https://graph.facebook.com"),
      },
      "WhatsApp, through the Cloud API. A recipient is a number with its country code.",
    ),
    signal: optionalSection(
      {
        account: text({
          pattern: "^\\+\\d{5,15}$",
          description: "The number that sends.",
          examples: ["+4915100000000"],
        }),
        kind: Type.Enum(["rest", "daemon"], {
          default: "rest",
          description: "`rest`: signal-cli-rest-api; `daemon`: signal-cli's own `daemon --http`.",
        }),
        apiUrl: defaultUrl(
          "http://127.0.0.1:8080",
          "Where it is; it knows no passwords, so keep it to this machine or behind a proxy.",
        ),
      },
      "Signal. A recipient is a number, a UUID, `group.…` or `u:name`.",
    ),
    imessage: optionalSection(
      {
        kind: Type.Enum(["bluebubbles", "imsg"], {
          default: "bluebubbles",
          description: "A BlueBubbles server, or the `imsg` command on this Mac.",
        }),
        apiUrl: defaultUrl("http://127.0.0.1:1234", "BlueBubbles: where the server is."),
        password: Type.Optional(secret("BlueBubbles: the server's password.")),
        method: Type.Enum(["apple-script", "private-api"], {
          default: "apple-script",
          description: "BlueBubbles: how it sends.",
        }),
        command: Type.Array(Type.String({ minLength: 1 }), {
          default: ["imsg"],
          minItems: 1,
          examples: [["imsg"]],
          description: "imsg: the program and its first arguments, such as an SSH wrapper.",
        }),
      },
      "iMessage. A recipient is a number, a mail address, or a chat's guid.",
    ),
    log: optionalSection({}, "Development: deliveries are written to the log as sent, without their text."),
  },
  "Where replies are delivered.",
);
