import Type, { type Static } from "typebox";
import { CHANNELS } from "../../shared/channelNames.ts";
import { text, token } from "../nodes.ts";

/** The pattern of the name of an Amazon SNS topic: its partition, its region, an account and the topic's own name. */
export const TOPIC_ARN_PATTERN = "^arn:(aws|aws-cn|aws-us-gov):sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$";

const optional = (description: string, extra: object = {}) => Type.Optional(text({ description, ...extra }));
const template = (description: string, example: string) =>
  optional(`${description} A template.`, { examples: [example] });
const bytes = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1024, maximum: 8 * 1024 * 1024, description }));

/** Bodies other than JSON that a mapping may accept. */
const ACCEPTED_BODIES = ["text/plain", "form"] as const;

/** The pattern of header names. */
const HEADER_PATTERN = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";

/** The sender's own authentication. The cross-checks decide which keys belong to which type. */
const Auth = Type.Object(
  {
    type: Type.Enum(["token", "github", "stripe", "slack", "standard-webhooks", "hmac", "sendgrid", "sns"], {
      description: "How the sender authenticates: with a `token`, or with a signature of this kind.",
    }),
    token: Type.Optional(token({ description: "For `token`: the token of this sender. At least 16 characters." })),
    secret: optional(
      "For the types with a secret of both sides, all except `token`, `sendgrid` and `sns`: the secret with which the sender signs, as its settings page shows it.",
      { secret: true },
    ),
    publicKey: optional(
      "For `sendgrid`: the verification key of the signed event webhook, as its settings page shows it.",
    ),
    topicArns: Type.Optional(
      Type.Array(Type.String({ pattern: TOPIC_ARN_PATTERN }), {
        minItems: 1,
        examples: [["arn:aws:sns:eu-central-1:123456789012:alarms"]],
        description: "For `sns`: the topics whose messages are accepted.",
      }),
    ),
    shared: Type.Optional(
      Type.Boolean({
        description:
          "Set it to `true` in every mapping that uses the same secret; otherwise the configuration is refused. A request signed for one of these mappings is valid for the others as well.",
      }),
    ),
    header: optional(
      "For `hmac`: the header that contains the signature. For `token`: a header in which the token may arrive besides `Authorization`.",
      {
        pattern: HEADER_PATTERN,
        examples: ["x-signature"],
      },
    ),
    algorithm: Type.Optional(
      Type.Enum(["sha1", "sha256", "sha512"], {
        description: "For `hmac`: the hash algorithm. The default is `sha256`.",
      }),
    ),
    encoding: Type.Optional(
      Type.Enum(["hex", "base64", "base64url"], {
        description: "For `hmac`: the encoding of the signature. The default is `hex`.",
      }),
    ),
    prefix: optional("For `hmac`: the text before the signature in the header.", { examples: ["sha256="] }),
    timestampHeader: optional(
      "For `hmac`: the header with the Unix time of the signature. The signed text is then the time, a full stop and the body.",
      { pattern: HEADER_PATTERN, examples: ["x-timestamp"] },
    ),
    toleranceSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 43_200, // accepted messages are remembered for 24 hours, twice this tolerance
        description:
          "Maximum difference between the signed time and now, in seconds. The default is 300, for `sns` 3600.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ type: "github", secret: "the secret of the webhook" }],
    description: "How this sender authenticates instead of the hook token. Requires `match.path`.",
  },
);

/** The senders with a preset. */
export const SENDERS = [
  "github",
  "gitlab",
  "stripe",
  "sentry",
  "grafana",
  "alertmanager",
  "pagerduty",
  "linear",
  "sendgrid",
  "sns",
] as const;

/** The value or values that a path of `match.when` must have. */
export type WhenValue = Scalar | readonly Scalar[] | { readonly exists: boolean };
export type Scalar = string | number | boolean;

/** The conditions of a mapping by path. The cross-checks examine the paths, and the values that are objects. */
const When = Type.Unsafe<Readonly<Record<string, WhenValue>>>({
  type: "object",
  additionalProperties: {
    type: ["string", "number", "boolean", "array", "object"],
    items: { type: ["string", "number", "boolean"] },
    minItems: 1,
  },
  examples: [{ "payload.action": ["opened", "reopened"], "headers.x-github-event": "pull_request" }],
  description:
    "Conditions by path, which a request must meet before it becomes a run. A path is written as in a template; its value must equal the value, or one of the list. `{ exists: true }` requires any value, `{ exists: false }` none. With `forEach`, a path such as `item.event` leaves out the items that do not meet it.",
});

/** One entry of `hooks.mappings`. */
export const MappingSchema = Type.Object(
  {
    id: optional("Name of the mapping in logs, metrics and error messages. The default is its `match.path`.", {
      maxLength: 100,
    }),
    preset: Type.Optional(
      Type.Enum(SENDERS, {
        examples: ["github"],
        description:
          "A sender whose `match.path`, `match.when`, kind of `auth`, `name`, `sessionKey` and message are filled in where the mapping does not set them. Requires the `secret`, `token`, `publicKey` or `topicArns` in `auth`.",
      }),
    ),
    match: Type.Optional(
      Type.Object(
        {
          path: optional("Name in the URL after `hooks.path`. It can have several parts, such as `ci/build`.", {
            pattern: "^[^/?#]+(/[^/?#]+)*$",
            examples: ["ci/build"],
          }),
          source: optional("Value that the top-level field `source` of the body must have.", { examples: ["ci"] }),
          when: Type.Optional(When),
        },
        {
          additionalProperties: false,
          description: "Which requests the mapping handles. All keys must match. With none, it handles every request.",
        },
      ),
    ),
    action: Type.Enum(["agent", "wake"], {
      default: "agent",
      description:
        "Work that a request starts: `agent` starts a run of the agent, `wake` adds an event for the main session.",
    }),
    wakeMode: Type.Enum(["now", "next-heartbeat"], {
      default: "now",
      description:
        "When the main session reads the event or the summary of the run: at once (`now`), or at the next heartbeat.",
    }),
    name: template("Name of the run, with which its summary starts.", "CI {{branch}}"),
    sessionKey: template(
      "Session of the run. If a value in the template is missing, the run has its own conversation. The default is `hooks.defaultSessionKey`.",
      "hook:ci:{{branch}}",
    ),
    messageTemplate: template(
      "Message for the agent. The default is the whole body as JSON.",
      "Build {{build.id}} of {{branch}} failed.",
    ),
    textTemplate: template(
      "Text of the event, for `action: wake`. The default is the whole body as JSON.",
      "{{title}}",
    ),
    deliver: Type.Boolean({ default: true, description: "Whether the reply is sent to a channel." }),
    allowUnsafeExternalContent: Type.Boolean({
      default: false,
      description:
        "Uses the message as the prompt without the markers and the notice that fence untrusted content. Set it only for senders that you trust completely.",
    }),
    channel: Type.Enum(["last", ...CHANNELS], {
      default: "last",
      description: "Channel to which the reply is sent. `last` is where the replies of the main session go.",
    }),
    to: template("Recipient of the reply in the notation of the channel.", "{{chat.id}}"),
    model: optional("Model for the run: an id or alias of `agents.defaults.models`.", { examples: ["large"] }),
    thinking: optional("Reasoning effort of the model, in the notation of the model server.", { examples: ["low"] }),
    timeoutSeconds: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 86_400,
        description: "Time limit of the run in seconds. The default is `agents.defaults.timeoutSeconds`.",
      }),
    ),
    trackAsJob: Type.Optional(
      Type.Boolean({
        description: "Whether the run is also shown as a job. The default is `agents.defaults.trackAsJob`.",
      }),
    ),
    transform: Type.Optional(
      Type.Object(
        {
          module: text({ examples: ["ci.ts"], description: "File of the transform, in `hooks.transformsDir`." }),
          export: optional("Name of the exported function. Without it the default export is called.", {
            examples: ["onPush"],
          }),
        },
        { additionalProperties: false, description: "A function of yours that changes the run or drops the request." },
      ),
    ),
    instructions: optional(
      "Your instructions to the agent, which precede the message. The agent follows them, unlike the message.",
      {
        examples: ["Say in one sentence what broke and whose change it was."],
      },
    ),
    forEach: optional(
      "Name of a top-level list in the body, or `.` if the body itself is the list. Each item starts its own run; templates refer to it as `{{item}}`.",
      {
        examples: ["messages"],
      },
    ),
    auth: Type.Optional(Auth),
    accept: Type.Optional(
      Type.Array(Type.Enum(ACCEPTED_BODIES), {
        minItems: 1,
        uniqueItems: true,
        examples: [["form"]],
        description:
          "Bodies that the mapping takes besides JSON: `text/plain` is JSON that is sent with this type, `form` are form fields, which become an object of texts.",
      }),
    ),
    handshake: Type.Optional(
      Type.Enum(["meta", "microsoft-graph"], {
        description:
          "Answers the request with which this sender verifies the URL: `meta` a GET with `hub.challenge`, `microsoft-graph` a POST with `validationToken`. Requires `match.path` and `verifyToken`.",
      }),
    ),
    verifyToken: optional(
      "For `handshake`: the verify token that you enter at Meta, or the `clientState` of the subscription at Microsoft Graph.",
      { secret: true, maxLength: 128 },
    ),
    maxBodyBytes: bytes("Maximum size of the body in bytes. The default is `hooks.maxBodyBytes`."),
  },
  { additionalProperties: false },
);

export type MappingConfig = Static<typeof MappingSchema>;

/** The built-in mappings that `hooks.presets` may name. */
export const PRESETS = ["gmail"] as const;
