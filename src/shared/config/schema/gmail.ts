import Type from "typebox";
import { boolean, integer, optionalSection, text } from "../nodes.ts";

/** Returns the pattern of a Pub/Sub resource (https://cloud.google.com/pubsub/docs/pubsub-basics#resource_names). */
const resource = (kind: "topics" | "subscriptions") =>
  `^projects/[a-z][a-z0-9.:-]{4,61}[a-z0-9]/${kind}/(?!goog)[A-Za-z][A-Za-z0-9._~+%-]{2,254}$`;

const address = (description: string, example: string) =>
  Type.Optional(text({ pattern: "^https?://[^/@]+(/.*)?$", examples: [example], description }));

/** The section `hooks.gmail`, which configures the mail listener. */
export const GmailSchema = optionalSection(
  {
    account: text({
      maxLength: 254,
      pattern: "^[^\\s@]+@[^\\s@]+$",
      examples: ["ada@example.org"],
      description: "The mailbox.",
    }),
    topic: Type.Optional(
      text({
        pattern: resource("topics"),
        examples: ["projects/my-project/topics/signalbox-gmail"],
        description:
          "Where Gmail publishes its notices. Without topic and subscription the mailbox is only looked into every `pollEveryMinutes`.",
      }),
    ),
    subscription: Type.Optional(
      text({
        pattern: resource("subscriptions"),
        examples: ["projects/my-project/subscriptions/signalbox-gmail"],
        description: "Where the notices are pulled from; goes with `topic`.",
      }),
    ),
    label: text({
      default: "INBOX",
      maxLength: 225,
      description: "The id of the label whose new mails count. Spam, trash, drafts and sent mails never do.",
    }),
    includeBody: boolean({
      default: true,
      description: "Whether a mail comes with its text, or with its snippet alone.",
    }),
    maxBytes: integer({
      default: 20_000,
      minimum: 256,
      maximum: 1024 * 1024,
      description: "Most bytes of a mail's text; what is over is cut, and said.",
    }),
    renewEveryMinutes: integer({
      default: 720,
      minimum: 1,
      maximum: 6 * 24 * 60,
      description: "How often the watch is renewed, which Gmail ends after seven days.",
    }),
    pollEveryMinutes: integer({
      default: 5,
      minimum: 1,
      maximum: 24 * 60,
      description: "How often the mailbox is looked into without a notice, which may be late or lost.",
    }),
    model: Type.Optional(
      text({
        examples: ["large"],
        description: "The model that the preset `gmail` asks: of the allow-list, or its alias.",
      }),
    ),
    thinking: Type.Optional(text({ description: "How hard it thinks.", examples: ["low"] })),
    allowUnsafeExternalContent: boolean({
      default: false,
      description:
        "With the preset `gmail` the prompt is the mail as it is, without markers and notice: anybody may write a mail.",
    }),
    credentialsFile: text({
      default: "gmail-credentials.json",
      description:
        "The consent or the service account's key, as `signalbox webhooks gmail setup` writes it; from the configuration file's directory.",
    }),
    apiUrl: Type.Optional(
      text({
        pattern: "^https?://[^/@?#]+/?$",
        examples: ["https://gmail.googleapis.com"],
        description: "Instead of https://gmail.googleapis.com; without a path.",
      }),
    ),
    pubsubUrl: address("Instead of https://pubsub.googleapis.com.", "https://pubsub.googleapis.com"),
    tokenUrl: address("Instead of https://oauth2.googleapis.com/token.", "https://oauth2.googleapis.com/token"),
    consentUrl: address(
      "Instead of https://accounts.google.com/o/oauth2/v2/auth.",
      "https://accounts.google.com/o/oauth2/v2/auth",
    ),
  },
  "The mailbox whose new mails go to the mapping `gmail`. Written by `signalbox webhooks gmail setup`.",
);
