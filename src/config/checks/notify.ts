import { aboutOf, type NotificationType } from "../../shared/notifications/catalogue.ts";
import { readAllowedHost } from "../../shared/outbound/allowedHosts.ts";
import { recipientFault } from "../formats/recipient.ts";
import { parseTemplate, TemplateError } from "../formats/template.ts";
import type { Config } from "../schema/config.ts";
import { signingSecretFaults } from "./signingSecrets.ts";

type Rule = Config["notify"][number];
type Target = Rule["to"];
type Webhook = NonNullable<Target["webhook"]>;
type Faults = (string | false | undefined)[];

/** The names with which the path of a value in a template can begin. */
const TEMPLATE_ROOTS: readonly string[] = ["type", "timestamp", "data", "job", "run", "gate", "url"];

const TARGETS = ["webhook", "channel", "wake"] as const;

const isAboutJob = (type: NotificationType) => ["job", "gate"].includes(aboutOf(type));

/** The keys of `where` that not every event can match: whether events of a type can, and a text for these types. */
const WHERE = {
  jobId: { matches: isAboutJob, types: "events of jobs and gates" },
  metadata: { matches: isAboutJob, types: "events of jobs and gates" },
  mapping: {
    matches: (type: NotificationType) => aboutOf(type) !== "expectation",
    types: "events of runs, deliveries and jobs that show a run",
  },
} as const;

/** Returns a sentence for each fault in `notify` and `expect` that the schema does not find. */
export function notifyFaults(config: Config): string[] {
  const { notify, expect } = config;
  return [
    ...notify.flatMap((rule, i) => ruleFaults(rule, config).map((fault) => `notify.${i}.${fault}`)),
    ...repeatedIds("notify", notify),
    ...repeatedIds("expect", expect),
  ];
}

/** Returns a sentence for each fault in `outbound` that the schema does not find. */
export function outboundFaults({ outbound }: Pick<Config, "outbound">): string[] {
  if (!outbound) return [];
  const { allowedHosts, secret } = outbound;
  const hostFaults = allowedHosts.flatMap((entry, i) =>
    readAllowedHost(entry) === null
      ? [
          `outbound.allowedHosts.${i} matches no address: name a host, *. and a domain, or an IP address, with a port from 1 to 65535 or without one`,
        ]
      : [],
  );
  return [...hostFaults, ...signingSecretFaults("outbound.secret", secret)];
}

function repeatedIds(key: "notify" | "expect", items: readonly { readonly id: string }[]): string[] {
  const ids = items.map(({ id }) => id);
  return ids.flatMap((id, i) => {
    const twin = ids.indexOf(id);
    return twin < i ? [`${key}.${i}.id is used twice: ${key}.${twin} has the id ${id} too`] : [];
  });
}

/** Returns a sentence, beginning with the key within the rule, for each fault. */
function ruleFaults(rule: Rule, config: Config): string[] {
  const { on, to, template, after } = rule;
  return [
    ...targetFaults(to, config.channels),
    ...(to.webhook ? [...webhookFaults(to.webhook), ...includeFaults(to.webhook, on)] : []),
    to.webhook &&
      template !== undefined &&
      "template has no effect with to.webhook, whose body is the event itself: remove it",
    template !== undefined && templateFault(template),
    after !== undefined &&
      !on.includes("job.failed") &&
      "after has no effect, because on does not have job.failed: add that, or remove after",
    on.includes("job.recovered") &&
      !on.includes("job.stale") &&
      "on has job.recovered and not job.stale: add that, because a rule announces only the recovery of jobs that it has announced as stale",
    on.includes("job.missing") &&
      config.expect.length === 0 &&
      "on has job.missing, which only an expectation raises: add one to expect, or remove job.missing",
    ...whereFaults(rule),
  ].filter((fault) => typeof fault === "string");
}

function targetFaults(to: Target, channels: Config["channels"]): Faults {
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

/** Headers of a webhook that the service or the connection sets. */
const OWN_HEADERS = [
  "content-type",
  "content-length",
  "content-encoding",
  "user-agent",
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
  "expect",
];

function webhookFaults({ url, secret, headers = {} }: Webhook): Faults {
  return [
    addressFault(url, Object.keys(headers)),
    ...signingSecretFaults("to.webhook.secret", secret),
    ...Object.entries(headers).map(([name, value]) => headerFault(name, value)),
  ];
}

/** Checks that each included part belongs to the job or run of an event that the rule handles. */
function includeFaults({ include }: Webhook, on: readonly NotificationType[]): Faults {
  return include.map((part) => {
    const isOfRun = part === "reply";
    const isUsed = on.some(isOfRun ? (type) => aboutOf(type) === "run" : isAboutJob);
    const types = isOfRun ? "runs" : "jobs or gates";
    return !isUsed && `to.webhook.include has ${part}, which only events of ${types} have, and on has none: remove it`;
  });
}

function addressFault(address: string, headers: readonly string[]): string | false {
  const url = URL.parse(address);
  if (!url) return "to.webhook.url is not a valid URL";
  if (url.username + url.password !== "" && headers.some((name) => name.toLowerCase() === "authorization")) {
    return "to.webhook.url must have no user and password beside to.webhook.headers.Authorization, which they would replace: remove one of them";
  }
  return url.hash !== "" && "to.webhook.url must have no fragment (#…): it is never sent";
}

function headerFault(name: string, value: string): string | false {
  const key = `to.webhook.headers.${name || '""'}`;
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    return `${key} is not a valid name of a header: use letters, digits and -`;
  }
  if (OWN_HEADERS.includes(name.toLowerCase())) return `${key} is set by Signalbox itself: remove it`;
  return (
    !/^[\t\x20-\x7e\x80-\xff]*$/.test(value) &&
    `${key} must have no line breaks, other control characters, or characters beyond Latin-1`
  );
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

/** Returns a sentence if links in messages would lead to another path than the one at which the service answers. */
export function publicUrlFaults({ server: { publicUrl, basePath = "" } }: Pick<Config, "server">): Faults {
  if (publicUrl === undefined) return [];
  const url = URL.parse(publicUrl);
  if (!url) return ["server.publicUrl is not a valid URL"];
  const path = url.pathname.replace(/\/$/, "");
  if (path === basePath) return [];
  return [
    basePath === ""
      ? `server.publicUrl has the path ${path}, and server.basePath is not set: set that too, or remove the path`
      : `server.publicUrl must end with ${basePath}, which is server.basePath`,
  ];
}
