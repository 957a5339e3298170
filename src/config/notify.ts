import Type, { type Static } from "typebox";
import { CHANNELS, LIVE_CHANNELS } from "../shared/channelNames.ts";
import { aboutOf, NOTIFICATION_TYPES, type NotificationType } from "../shared/notifications/catalogue.ts";
import { cronFault, isTimezone } from "../shared/text/cron.ts";
import { parseTemplate, TemplateError } from "../shared/text/template.ts";
import type { Channels } from "./channels.ts";
import { type Check, duration, type Frozen, text } from "./nodes.ts";
import { WebhookSchema, webhookFaults } from "./outbound.ts";
import { recipientFault } from "./recipients.ts";

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

type Rule = Frozen<Static<typeof RuleSchema>>;
type Target = Rule["to"];
type Webhook = NonNullable<Target["webhook"]>;
type Faults = (string | false | undefined)[];

/** The names with which the path of a value in a template can begin. */
const TEMPLATE_ROOTS: readonly string[] = ["type", "timestamp", "data", "job", "run", "gate", "url"];

const TARGETS = ["webhook", "channel", "wake"] as const;

type RuleType = NotificationType | typeof PROGRESS;

const aboutType = (type: RuleType) => (type === PROGRESS ? "job" : aboutOf(type));
const isAboutJob = (type: RuleType) => ["job", "gate"].includes(aboutType(type));

/** The keys of `where` that not every event can match: whether events of a type can, and a text for these types. */
const WHERE = {
  jobId: { matches: isAboutJob, types: "events of jobs and gates" },
  metadata: { matches: isAboutJob, types: "events of jobs and gates" },
  mapping: {
    matches: (type: RuleType) => aboutType(type) !== "expectation",
    types: "events of runs, deliveries and jobs that show a run",
  },
} as const;

/** The part of an expectation that the checks read. */
interface Expected {
  readonly id: string;
  readonly every?: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly ping?: string;
}

/** The sections that the checks read. */
interface Sections {
  readonly notify: readonly Rule[];
  readonly expect: readonly Expected[];
  readonly channels: Channels;
}

export const notifyChecks: readonly Check<Sections>[] = [
  { reads: ["notify", "expect", "channels"], find: notifyFaults },
];

/** Returns a sentence for each fault in `notify` and `expect` that the schema does not find. */
function notifyFaults(config: Sections): string[] {
  const { notify, expect } = config;
  return [
    ...notify.flatMap((rule, i) => ruleFaults(rule, config).map((fault) => `notify.${i}.${fault}`)),
    ...repeatedIds("notify", notify),
    ...repeatedIds("expect", expect),
    ...expect.flatMap((one, i) => scheduleFaults(one).map((fault) => `expect.${i}${fault}`)),
    ...expect.flatMap(({ ping }, i) => {
      const twin = expect.findIndex((one) => one.ping?.toLowerCase() === ping?.toLowerCase());
      return ping !== undefined && twin < i ? [`expect.${i}.ping is used twice: expect.${twin} has it too`] : [];
    }),
  ];
}

/** Returns the faults of when a job is expected. */
function scheduleFaults({ every, cron, timezone }: Expected): string[] {
  if ((every === undefined) === (cron === undefined)) {
    return [
      cron === undefined ? " has neither every nor cron: set one of them" : " has every and cron: remove one of them",
    ];
  }
  if (cron === undefined) return timezone === undefined ? [] : [".timezone has no effect without cron: remove it"];
  const zone = timezone !== undefined && !isTimezone(timezone);
  const fault = cronFault(cron);
  return [
    ...(zone ? [`.timezone is ${timezone}, which is no time zone: name one such as Europe/Berlin`] : []),
    ...(fault === undefined ? [] : [`.cron ${fault}`]),
  ];
}

function repeatedIds(key: "notify" | "expect", items: readonly { readonly id: string }[]): string[] {
  const ids = items.map(({ id }) => id);
  return ids.flatMap((id, i) => {
    const twin = ids.indexOf(id);
    return twin < i ? [`${key}.${i}.id is used twice: ${key}.${twin} has the id ${id} too`] : [];
  });
}

/** Returns a sentence, beginning with the key within the rule, for each fault. */
function ruleFaults(rule: Rule, config: Sections): string[] {
  const { on, to, template, after } = rule;
  return [
    ...targetFaults(to, config.channels),
    ...progressFaults(rule),
    ...(to.webhook ? [...webhookFaults(to.webhook), ...includeFaults(to.webhook, on)] : []),
    to.webhook &&
      template !== undefined &&
      "template has no effect with to.webhook, whose body is the event itself: remove it",
    template !== undefined && templateFault(template),
    after !== undefined &&
      !on.includes("job.failed") &&
      "after has no effect, because on does not have job.failed: add that, or remove after",
    rule.slow !== undefined &&
      !on.includes("job.slow") &&
      "slow has no effect, because on does not have job.slow: add that, or remove slow",
    rule.slow?.after !== undefined &&
      rule.slow.factor === undefined &&
      rule.slow.longerThan !== undefined &&
      "slow.after has no effect without slow.factor: add that, or remove slow.after",
    on.includes("job.recovered") &&
      !on.includes("job.stale") &&
      "on has job.recovered and not job.stale: add that, because a rule announces only the recovery of jobs that it has announced as stale",
    on.includes("job.missing") &&
      config.expect.length === 0 &&
      "on has job.missing, which only an expectation raises: add one to expect, or remove job.missing",
    ...whereFaults(rule),
  ].filter((fault) => typeof fault === "string");
}

/** Checks that a rule about progress has a target whose messages can be edited, and nothing that it would not use. */
function progressFaults({ on, to, template, cooldown }: Rule): Faults {
  if (!on.includes(PROGRESS)) {
    return [
      to.live !== undefined &&
        `to.live has no effect without ${PROGRESS} in on: remove it, or set on to ["${PROGRESS}"]`,
    ];
  }
  const { channel } = to;
  return [
    to.live !== true &&
      `on has ${PROGRESS}, which is no single event: set to.live to true for one message that follows each job, or remove ${PROGRESS}`,
    on.length > 1 && `on has ${PROGRESS} and other types: give the other types a rule of their own`,
    !LIVE_CHANNELS.some((name) => name === channel) &&
      `to.channel must be one of ${LIVE_CHANNELS.join(", ")} for ${PROGRESS}: messages of other targets cannot be edited`,
    template !== undefined && `template has no effect with ${PROGRESS}: remove it`,
    cooldown !== undefined && `cooldown has no effect with ${PROGRESS}, whose message is edited: remove it`,
  ];
}

function targetFaults(to: Target, channels: Channels): Faults {
  const given = TARGETS.filter((key) => to[key] !== undefined);
  if (given.length !== 1) {
    const problem = given.length === 0 ? "has no target" : `has several targets (${given.join(", ")})`;
    return [`to ${problem}: give exactly one of ${TARGETS.join(", ")}`];
  }
  const { channel, to: recipient } = to;
  if (channel === undefined) {
    return [recipient !== undefined && `to.to has no effect with to.${given[0]}: remove it, or set to.channel`];
  }
  if (channel === "last") {
    const hasNone = Object.values(channels).every((settings) => settings === undefined);
    return [hasNone && "to.channel is last and no channel is configured: add one to channels"];
  }
  const form = recipient?.trim() ? recipientFault(channel, recipient) : undefined;
  return [
    channels[channel] === undefined && `to.channel is ${channel}, which is not configured: add channels.${channel}`,
    recipient === undefined
      ? `to.to is missing: name the recipient on ${channel}, or set to.channel to last`
      : recipient.trim() === "" && "to.to must not be blank",
    form && `to.to ${form}`,
  ];
}

/** Checks that each included part belongs to the job or run of an event that the rule handles. */
function includeFaults({ include }: Webhook, on: readonly RuleType[]): Faults {
  return include.map((part) => {
    const isOfRun = part === "reply";
    const isUsed = on.some(isOfRun ? (type) => aboutType(type) === "run" : isAboutJob);
    const types = isOfRun ? "runs" : "jobs or gates";
    return !isUsed && `to.webhook.include has ${part}, which only events of ${types} have, and on has none: remove it`;
  });
}

/** Checks that a template parses and refers to values that an event can have. */
function templateFault(text: string): string | false {
  try {
    const parts = parseTemplate(text, { hasRaw: true });
    for (const part of parts) {
      if (typeof part === "string") continue;
      const [first] = part.root === "payload" ? part.keys : [part.root];
      if (first === undefined || !TEMPLATE_ROOTS.includes(first)) {
        return `template refers to ${first ?? "payload"}, which events do not have: begin each path with one of ${TEMPLATE_ROOTS.join(", ")}`;
      }
    }
    return parts.every((part) => typeof part === "string" && part.trim() === "") && "template must not be blank";
  } catch (error) {
    if (error instanceof TemplateError) return `template: ${error.message}`;
    throw error;
  }
}

function whereFaults({ on, where = {} }: Rule): Faults {
  return Object.entries(WHERE).map(
    ([key, { matches, types }]) =>
      where[key as keyof typeof WHERE] !== undefined &&
      !on.some(matches) &&
      `where.${key} matches only ${types}, and on has none: remove it, or add one to on`,
  );
}
