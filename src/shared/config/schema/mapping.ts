import Type, { type Static } from "typebox";
import { CHANNELS } from "../formats/channelNames.ts";
import { text, token } from "../nodes.ts";

const optional = (description: string, extra: object = {}) => Type.Optional(text({ description, ...extra }));
const template = (description: string, example: string) =>
  optional(`${description} A template.`, { examples: [example] });
const bytes = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1024, maximum: 8 * 1024 * 1024, description }));

/** The pattern of header names. */
const HEADER_PATTERN = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";

/** The sender's own authentication. The cross-checks decide which keys belong to which type. */
const Auth = Type.Object(
  {
    type: Type.Enum(["token", "github", "stripe", "slack", "standard-webhooks", "hmac"], {
      description: "The sender's scheme.",
    }),
    token: Type.Optional(token({ description: "`token`: a token of this sender's own, at least 16 characters." })),
    secret: optional("All but `token`: the secret that the sender signs with.", { secret: true }),
    shared: Type.Optional(
      Type.Boolean({
        description:
          "Must be `true` in each of the mappings that have the same secret, which are refused otherwise: what is signed for one of them can be sent to the others.",
      }),
    ),
    header: optional("`hmac`: the header with the signature.", { pattern: HEADER_PATTERN, examples: ["x-signature"] }),
    algorithm: Type.Optional(Type.Enum(["sha1", "sha256", "sha512"], { description: "`hmac`; `sha256` by default." })),
    encoding: Type.Optional(
      Type.Enum(["hex", "base64", "base64url"], { description: "`hmac`: of the signature; `hex` by default." }),
    ),
    prefix: optional("`hmac`: what stands before the signature.", { examples: ["sha256="] }),
    timestampHeader: optional(
      "`hmac`: the header with the time in seconds. What is signed is then the time, a dot, and the body.",
      { pattern: HEADER_PATTERN, examples: ["x-timestamp"] },
    ),
    toleranceSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 43_200, // accepted messages are remembered for 24 hours, twice this tolerance
        description: "How old a signed time may be, or how far ahead; 300 by default.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ type: "github", secret: "the secret of the webhook" }],
    description: "The sender's own proof, in place of the hook token. Needs `match.path`.",
  },
);

/** One entry of `hooks.mappings`. */
export const MappingSchema = Type.Object(
  {
    id: optional("Names the mapping in logs, metrics and problems. Its `match.path` by default.", { maxLength: 100 }),
    match: Type.Optional(
      Type.Object(
        {
          path: optional("The name behind the base path; nested names such as `ci/build` too.", {
            pattern: "^[^/?#]+(/[^/?#]+)*$",
            examples: ["ci/build"],
          }),
          source: optional("What the body's top-level `source` must be.", { examples: ["ci"] }),
        },
        {
          additionalProperties: false,
          description: "Which requests it takes. With both keys both must hold; without any it takes every name.",
        },
      ),
    ),
    action: Type.Enum(["agent", "wake"], {
      default: "agent",
      description: "A run of the agent, or an event of the main session.",
    }),
    wakeMode: Type.Enum(["now", "next-heartbeat"], {
      default: "now",
      description: "When the main session takes a turn over the event or the run's summary.",
    }),
    name: template("Begins the summary.", "CI {{branch}}"),
    sessionKey: template(
      "The session of the run; one of its own when a value in it is missing. Without it `hooks.defaultSessionKey`.",
      "hook:ci:{{branch}}",
    ),
    messageTemplate: template(
      "What the agent is told; the whole body as JSON without it.",
      "Build {{build.id}} of {{branch}} failed.",
    ),
    textTemplate: template("The text of the event; the whole body as JSON without it.", "{{title}}"),
    deliver: Type.Boolean({ default: true, description: "Whether the reply goes to a channel." }),
    allowUnsafeExternalContent: Type.Boolean({
      default: false,
      description:
        "The prompt is the message as it is, without markers and notice. Only for senders whom you trust wholly.",
    }),
    channel: Type.Enum(["last", ...CHANNELS], { default: "last", description: "Where the reply goes." }),
    to: template("The recipient, as the channel names it.", "{{chat.id}}"),
    model: optional("A model of the allow-list, or its alias.", { examples: ["large"] }),
    thinking: optional("How hard the model thinks.", { examples: ["low"] }),
    timeoutSeconds: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 86_400, description: "How long the run may take." }),
    ),
    trackAsJob: Type.Optional(
      Type.Boolean({ description: "Makes the run a job too; `agents.defaults.trackAsJob` by default." }),
    ),
    transform: Type.Optional(
      Type.Object(
        {
          module: text({ examples: ["ci.ts"], description: "A file under `hooks.transformsDir`." }),
          export: optional("The export that is called; the default one without it.", { examples: ["onPush"] }),
        },
        { additionalProperties: false, description: "A function that changes the result, or drops the request." },
      ),
    ),
    instructions: optional("Your own words to the agent, which stand before the message and are trusted.", {
      examples: ["Say in one sentence what broke and whose change it was."],
    }),
    forEach: optional(
      "A top-level array of the body: each of its items is a run of its own, `{{item}}` in templates.",
      {
        examples: ["messages"],
      },
    ),
    auth: Type.Optional(Auth),
    maxBodyBytes: bytes("Largest body; `hooks.maxBodyBytes` by default."),
  },
  { additionalProperties: false },
);

export type MappingConfig = Static<typeof MappingSchema>;

/** The built-in mappings that `hooks.presets` may name. */
export const PRESETS = ["gmail"] as const;
