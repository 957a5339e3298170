import Type, { type Static } from "typebox";
import { GMAIL_PRESET, GMAIL_SESSIONS, sessionKeyFault } from "../shared/sessionKey.ts";
import { resolveModel } from "./agents/agent.ts";
import { type Mapping, mappingKey } from "./mappings/mapping.ts";
import { type Frozen, optionalSection, text } from "./nodes.ts";

/** Returns the pattern of a Pub/Sub resource (https://cloud.google.com/pubsub/docs/pubsub-basics#resource_names). */
const resource = (kind: "topics" | "subscriptions") =>
  `^projects/[a-z][a-z0-9.:-]{4,61}[a-z0-9]/${kind}/(?!goog)[A-Za-z][A-Za-z0-9._~+%-]{2,254}$`;

/** The section `hooks.gmail`, which configures the mail listener. */
export const GmailSchema = optionalSection(
  {
    account: text({
      maxLength: 254,
      pattern: "^[^\\s@]+@[^\\s@]+$",
      examples: ["ada@example.org"],
      description: "Address of the mailbox.",
    }),
    topic: Type.Optional(
      text({
        pattern: resource("topics"),
        examples: ["projects/my-project/topics/signalbox-gmail"],
        description:
          "Pub/Sub topic to which Gmail publishes notifications. Without topic and subscription the mailbox is read every `pollEveryMinutes`.",
      }),
    ),
    subscription: Type.Optional(
      text({
        pattern: resource("subscriptions"),
        examples: ["projects/my-project/subscriptions/signalbox-gmail"],
        description: "Pub/Sub subscription from which the notifications are pulled. Required with `topic`.",
      }),
    ),
    label: text({
      default: "INBOX",
      maxLength: 225,
      description: "Id of the label whose new mails start runs. Spam, trash, drafts and sent mails never start one.",
    }),
    includeBody: Type.Boolean({
      default: true,
      description: "Whether the agent receives the text of a mail. If it is off, it receives only the snippet.",
    }),
    maxBytes: Type.Integer({
      default: 20_000,
      minimum: 256,
      maximum: 1024 * 1024,
      description: "Maximum size of a mail's text in bytes. A longer text is cut, and a note says so.",
    }),
    pollEveryMinutes: Type.Integer({
      default: 5,
      minimum: 1,
      maximum: 24 * 60,
      description: "Minutes between readings of the mailbox without a notification. Notifications can be late or lost.",
    }),
    model: Type.Optional(
      text({
        examples: ["large"],
        description: "Model of the preset `gmail`: an id or alias of `agents.defaults.models`.",
      }),
    ),
    thinking: Type.Optional(
      text({ description: "Reasoning effort of the model, in the notation of the model server.", examples: ["low"] }),
    ),
    allowUnsafeExternalContent: Type.Boolean({
      default: false,
      description:
        "Uses the mail as the prompt of the preset `gmail` without the markers and the notice that fence untrusted content. Dangerous: everyone can send a mail.",
    }),
    keepRequests: Type.Boolean({
      default: false,
      description: "Whether mails are kept like other requests, for the time of `hooks.keepRequests`.",
    }),
    credentialsFile: text({
      default: "gmail-credentials.json",
      description:
        "File with the OAuth consent or the key of the service account, which `signalbox webhooks gmail setup` writes. Relative to the directory of the configuration file.",
    }),
  },
  "The mailbox whose new mails are handled by the mapping `gmail`. `signalbox webhooks gmail setup` writes this section.",
);

/** The keys of `hooks` on which the section depends. */
interface Hooks {
  readonly gmail?: Frozen<Static<typeof GmailSchema>>;
  readonly mappings: readonly Mapping[];
  readonly presets: readonly string[];
  readonly allowedSessionKeyPrefixes?: readonly string[];
  readonly keepRequests?: unknown;
}

/** Returns a sentence for each fault in `hooks.gmail` and its preset that the schema does not find. */
export function gmailFaults(hooks: Hooks, models: Parameters<typeof resolveModel>[0]): (string | false)[] {
  const { gmail, mappings, presets, allowedSessionKeyPrefixes } = hooks;
  const own = mappings.find(({ match }) => matchesMail(match?.path) && matchesMail(match?.source));
  const prefixFault =
    !own &&
    presets.includes("gmail") &&
    sessionKeyFault(GMAIL_SESSIONS, allowedSessionKeyPrefixes, GMAIL_PRESET) !== null &&
    `hooks.allowedSessionKeyPrefixes must have one for ${GMAIL_SESSIONS}, which the sessions of the preset gmail begin with`;
  if (!gmail) return [prefixFault]; // the preset also accepts mails from other listeners
  const resolved = resolveModel(models, gmail.model);
  return [
    (gmail.topic === undefined) !== (gmail.subscription === undefined) &&
      "hooks.gmail.topic and hooks.gmail.subscription go together: set both, or neither to read the mailbox every few minutes",
    !own && !presets.includes("gmail") && 'hooks.gmail needs a mapping for its mails: add "gmail" to hooks.presets',
    prefixFault,
    gmail.keepRequests &&
      hooks.keepRequests === undefined &&
      "hooks.gmail.keepRequests has no effect without hooks.keepRequests: set how long requests are kept, or remove it",
    gmail.model !== undefined && !resolved.ok && `hooks.gmail.model must be one of ${resolved.allowed.join(", ")}`,
    ...(["model", "thinking", "allowUnsafeExternalContent"] as const).map(
      (key) =>
        own !== undefined &&
        Boolean(gmail[key]) &&
        `hooks.gmail.${key} has no effect, because the mapping ${mappingKey(own)} handles the mails: set it in that mapping`,
    ),
  ];
}

/** Returns whether a mapping's path or source matches mails, whose path and source are `gmail`. */
const matchesMail = (wanted: string | undefined) => wanted === undefined || wanted === "gmail";
