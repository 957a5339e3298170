import Type from "typebox";
import { CHANNELS } from "../../shared/channelNames.ts";
import { NOTIFICATION_TYPES } from "../../shared/notifications/catalogue.ts";
import { duration, optionalSection, text, textMap } from "../nodes.ts";

/** The pattern of an entry in a list of hosts: a name, an IP address, or `*.` and a name for everything below it. */
const HOST_PATTERN = "^(\\*\\.)?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*(:[0-9]{1,5})?$|^\\[[0-9A-Fa-f:.]+\\](:[0-9]{1,5})?$";

/** The id of a rule: it is part of addresses and metrics. */
const id = (description: string, example: string) =>
  text({ pattern: "^[a-z0-9-]{1,64}$", examples: [example], description });

/** A secret of Standard Webhooks, or a list of them while a new one replaces an old one. */
const signingSecret = (description: string) =>
  Type.Unsafe<string | readonly string[]>({
    type: ["string", "array"],
    minLength: 1,
    items: { type: "string", minLength: 1 },
    minItems: 1,
    maxItems: 2,
    secret: true,
    examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    description: `${description} \`whsec_\` and 24 to 64 bytes in base64. With a list of two, each request has a signature with each of them.`,
  });

const Webhook = Type.Object(
  {
    url: text({
      pattern: "^https?://.",
      secret: "path",
      examples: ["https://ci.example.com/signalbox"],
      description: "Address to which events are sent.",
    }),
    secret: signingSecret("Secret with which requests are signed."),
    headers: Type.Optional(
      textMap({
        secret: true,
        examples: [{ "X-Env": "prod" }],
        description: "Headers that are added to each request.",
      }),
    ),
    include: Type.Array(Type.Enum(["input", "output", "metadata", "steps", "reply"]), {
      default: [],
      uniqueItems: true,
      examples: [["output"]],
      description: "Parts of the job or run that the data of the event contains besides a list row.",
    }),
    format: Type.Enum(["standard", "cloudevents"], {
      default: "standard",
      description:
        "Format of the body: `standard` is Standard Webhooks, `cloudevents` is CloudEvents 1.0 in structured mode. Both are signed in the same way.",
    }),
  },
  { additionalProperties: false, description: "Sends each event to a web server as a signed request." },
);

const Target = Type.Object(
  {
    webhook: Type.Optional(Webhook),
    channel: Type.Optional(
      Type.Enum(["last", ...CHANNELS], {
        examples: ["telegram"],
        description: "Channel to which a message is sent. `last` is where the replies of the main session go.",
      }),
    ),
    to: Type.Optional(
      text({ examples: ["1234"], description: "For `channel`: the recipient in the notation of the channel." }),
    ),
    wake: Type.Optional(
      Type.Enum(["now", "next-heartbeat"], {
        description:
          "Adds the message as an event to the main session, which reads it at once or at the next heartbeat.",
      }),
    ),
  },
  { additionalProperties: false, description: "Where the events go: one of `webhook`, `channel` and `wake`." },
);

const Where = Type.Object(
  {
    name: Type.Optional(text({ examples: ["Nightly"], description: "Beginning of the name of the job or run." })),
    jobId: Type.Optional(text({ examples: ["sales/"], description: "Beginning of the id of the job." })),
    metadata: Type.Optional(
      Type.Unsafe<Readonly<Record<string, string | number | boolean>>>({
        type: "object",
        additionalProperties: { type: ["string", "number", "boolean"] },
        minProperties: 1,
        examples: [{ team: "sales" }],
        description: "Values that the metadata of the job must have. A dotted key looks into nested objects.",
      }),
    ),
    mapping: Type.Optional(
      text({
        examples: ["ci"],
        description: "Name of the mapping that made the run, the run that the job shows, or the run of the delivery.",
      }),
    ),
  },
  {
    additionalProperties: false,
    description: "Which events the rule handles. All keys that are given must match.",
  },
);

/** One entry of `notify`. */
export const RuleSchema = Type.Object(
  {
    id: id("Name of the rule in deliveries, metrics and addresses. Unique.", "sales"),
    on: Type.Array(Type.Enum(NOTIFICATION_TYPES), {
      minItems: 1,
      uniqueItems: true,
      examples: [["job.failed", "job.stale", "job.recovered"]],
      description: "Types of the events that the rule handles.",
    }),
    where: Type.Optional(Where),
    to: Target,
    template: Type.Optional(
      text({
        examples: ["{{job.name}} failed: {{job.message}} {{url}}"],
        description:
          "Text of the message, for `channel` and `wake`. A template over `type`, `timestamp`, `data`, `job`, `run`, `gate` and `url`. Without it each type has a text of its own.",
      }),
    ),
    after: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        examples: [2],
        description:
          "Number of failures in a row, of jobs with the same name, from which `job.failed` is announced. The default is 1.",
      }),
    ),
    cooldown: Type.Optional(
      duration({
        examples: ["1h"],
        description:
          "Minimum time between two messages about the same subject: jobs of one name, one mapping, or one channel. Further events are counted, and the next message has their number. The default is a minute with `wake: now`, otherwise none.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** The keys at the top level that concern notifications. */
export const NotifySchemas = {
  notify: Type.Array(RuleSchema, {
    default: [],
    examples: [[{ id: "ops", on: ["job.failed"], to: { channel: "telegram", to: "1234" } }]],
    description: "Rules that send events to web servers, chats, or the agent.",
  }),
  notifyTurnsPerMinute: Type.Integer({
    default: 6,
    minimum: 1,
    maximum: 1_000,
    description:
      "Maximum turns of the main session within a minute that rules with `wake: now` start. Further events wait for the next heartbeat, so that an agent whose turns cause events does not wake itself without end.",
  }),
  expect: Type.Array(
    Type.Object(
      {
        id: id("Name of the expectation. Unique.", "backup"),
        name: text({ examples: ["Nightly backup"], description: "Beginning of the name of the expected jobs." }),
        every: duration({ examples: ["1d"], description: "How often a new job of that name is expected." }),
        grace: Type.Optional(
          duration({ examples: ["2h"], description: "How long a job may be late. The default is no time." }),
        ),
      },
      { additionalProperties: false },
    ),
    {
      default: [],
      examples: [[{ id: "backup", name: "Nightly backup", every: "1d", grace: "2h" }]],
      description: "Jobs that must be created regularly. If one is missing, the event `job.missing` is raised.",
    },
  ),
  outbound: optionalSection(
    {
      allowedHosts: Type.Array(Type.String({ pattern: HOST_PATTERN }), {
        minItems: 1,
        examples: [["ci.example.com", "*.internal"]],
        description:
          "Hosts to which the `callbackUrl` of a request may point. `*.` stands for every name below a domain, and never for an IP address. Without a port, only the default port of the scheme is allowed. A name must resolve to a public address; a name without `*.`, or below `internal`, `local` or `home.arpa`, also to a private one. To call this machine, list `localhost` or the address itself.",
      }),
      secret: signingSecret("Secret with which requests to a `callbackUrl` are signed."),
    },
    "Requests to addresses that callers choose. Without it every `callbackUrl` is refused.",
  ),
};
