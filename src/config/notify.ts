import Type, { type Static } from "typebox";
import { CHANNELS } from "../shared/channelNames.ts";
import { NOTIFICATION_TYPES } from "../shared/notifications/catalogue.ts";
import { duration, type Frozen, text } from "./nodes.ts";
import { WebhookSchema } from "./outbound.ts";

/** The type of rules whose messages follow the progress of a job. It is no notification, because nothing is noted or stored. */
export const PROGRESS = "job.progress";

/** The id of a rule: it is part of addresses and metrics. */
const id = (description: string, example: string) =>
  text({ pattern: "^[a-z0-9-]{1,64}$", examples: [example], description });

const Target = Type.Object(
  {
    webhook: Type.Optional(WebhookSchema),
    channel: Type.Optional(
      Type.Enum(["last", ...CHANNELS], {
        examples: ["telegram"],
        description: "Channel to which a message is sent. `last` is where the replies of the main session go.",
      }),
    ),
    to: Type.Optional(
      text({ examples: ["1234"], description: "For `channel`: the recipient in the notation of the channel." }),
    ),
    live: Type.Optional(
      Type.Boolean({
        examples: [true],
        description:
          "For `job.progress` on `telegram`, `slack`, `discord`, `mattermost` or `ntfy`: one message for each job, which is edited until the job has ended.",
      }),
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
    on: Type.Array(Type.Enum([...NOTIFICATION_TYPES, PROGRESS]), {
      minItems: 1,
      uniqueItems: true,
      examples: [["job.failed", "job.stale", "job.recovered"]],
      description:
        "Types of the events that the rule handles. `job.progress` stands alone, and needs `to.live`: it is no event, but a message that follows the job.",
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
    slow: Type.Optional(
      Type.Object(
        {
          factor: Type.Optional(
            Type.Number({
              exclusiveMinimum: 1,
              maximum: 1_000,
              examples: [2],
              description:
                "Multiple of the time within which 95 % of the completed jobs of that name ended in the last 60 days. It needs five such jobs. The default is 2 without `longerThan`.",
            }),
          ),
          after: Type.Optional(
            duration({ examples: ["1m"], description: "For `factor`: the least time. The default is a minute." }),
          ),
          longerThan: Type.Optional(
            duration({
              examples: ["2h"],
              description: "A time after which each job is slow, also one without a history.",
            }),
          ),
        },
        {
          additionalProperties: false,
          description: "For `job.slow`: when a job is slow. Waiting for a person does not count.",
        },
      ),
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
        every: Type.Optional(
          duration({ examples: ["1d"], description: "How often a new job of that name is expected. Or set `cron`." }),
        ),
        cron: Type.Optional(
          text({
            examples: ["0 3 * * 1-5"],
            description:
              "In place of `every`: the times by which a job must have begun, as five fields of cron. Nothing is started at these times. When clocks change, a time that does not exist counts an hour later, and one that exists twice counts once.",
          }),
        ),
        timezone: Type.Optional(
          text({ examples: ["Europe/Berlin"], description: "The time zone of `cron`. The default is UTC." }),
        ),
        ping: Type.Optional(
          text({
            pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
            secret: true,
            examples: ["c2d1f7a0-3d5e-4d4b-9b43-5f5b0f6d2a11"],
            description:
              "A UUID of yours, such as `uuidgen` prints. Pings to `/ping/UUID` then report these jobs without another key, so keep it secret.",
          }),
        ),
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
};

export type Rule = Frozen<Static<typeof RuleSchema>>;
