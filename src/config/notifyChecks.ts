import { LIVE_CHANNELS } from "../shared/channelNames.ts";
import { aboutOf, type NotificationType } from "../shared/notifications/catalogue.ts";
import { cronFault, isTimezone } from "../shared/text/cron.ts";
import { parseTemplate, TemplateError } from "../shared/text/template.ts";
import type { Channels } from "./channels/channels.ts";
import { recipientFault } from "./channels/recipients.ts";
import type { Check } from "./nodes.ts";
import { PROGRESS, type Rule } from "./notify.ts";
import { webhookFaults } from "./outbound.ts";

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
