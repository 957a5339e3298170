import Type, { type Static } from "typebox";
import { CHANNELS } from "../../shared/channelNames.ts";
import { IDENTIFIER_PATTERN } from "../../shared/text/text.ts";
import { type Frozen, text } from "../nodes.ts";
import { AuthSchema } from "./auth.ts";
import { JobSchema } from "./job.ts";
import { MatchSchema } from "./match.ts";

const optional = (description: string, extra: object = {}) => Type.Optional(text({ description, ...extra }));
const template = (description: string, example: string) =>
  optional(`${description} A template.`, { examples: [example] });
const bytes = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1024, maximum: 8 * 1024 * 1024, description }));

/** Bodies other than JSON that a mapping may accept. */
const ACCEPTED_BODIES = ["text/plain", "form"] as const;

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

/** The senders with a preset that reports jobs. */
const JOB_SENDERS = ["github-actions", "gitlab-pipeline", "cloudevents"] as const;

/** The built-in mappings that `hooks.presets` may name. */
export const PRESETS = ["gmail"] as const;

/** One entry of `hooks.mappings`. */
export const MappingSchema = Type.Object(
  {
    id: optional("Name of the mapping in logs, metrics and error messages. The default is its `match.path`.", {
      maxLength: 100,
    }),
    preset: Type.Optional(
      Type.Enum([...SENDERS, ...JOB_SENDERS], {
        examples: ["github"],
        description:
          "A sender whose `match.path`, `match.when`, kind of `auth`, `name`, `sessionKey` and message, or for `github-actions`, `gitlab-pipeline` and `cloudevents` whose `action` and `job`, are filled in where the mapping does not set them. Requires the `secret`, `token`, `publicKey` or `topicArns` in `auth`, but for `cloudevents`.",
      }),
    ),
    match: Type.Optional(MatchSchema),
    action: Type.Enum(["agent", "wake", "job"], {
      default: "agent",
      description:
        "Work that a request starts: `agent` starts a run of the agent, `wake` adds an event for the main session, `job` reports a job, without an agent.",
    }),
    job: Type.Optional(JobSchema),
    idPrefix: optional(
      "For `action: job`: what the ids of its jobs begin with, so that the sender touches no others. The default is the `id` of the mapping and a slash.",
      { maxLength: 150, pattern: IDENTIFIER_PATTERN, examples: ["ci/"] },
    ),
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
    agentId: optional(
      "Agent for the run, of `agents.list`. The default is that of the session, or `agents.defaults` for a new session.",
      { examples: ["reviewer"] },
    ),
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
    auth: Type.Optional(AuthSchema),
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

export type Mapping = Frozen<Static<typeof MappingSchema>>;

/** Returns the name of a mapping in logs, metrics and records. */
export const mappingKey = ({ id, match }: Mapping): string =>
  id ?? ([match?.path, match?.source].filter((part) => part !== undefined).join(":") || "*");

/** Returns what the ids of the jobs of a mapping begin with. */
export const jobPrefixOf = (mapping: Mapping): string => mapping.idPrefix ?? `${mappingKey(mapping)}/`;

/** The hooks that are not mappings. */
export const BUILT_IN_HOOKS: readonly string[] = ["wake", "agent"];

/** Returns the name of a hook as it is compared: percent-decoded, or unchanged when it cannot be decoded. */
export function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
