import type { Config } from "../../config/config.ts";
import { PROGRESS } from "../../config/notify.ts";
import { nameKey } from "../../models/db/nameSearch.ts";
import { hasTerm } from "../../models/jobs/search/jobFilter.ts";
import type { SearchTerm } from "../../models/jobs/search/searchKeys.ts";
import type { SlowRule } from "../../models/jobs/slowJobs.ts";
import { withoutProgress } from "../../models/notes/wantedNotifications.ts";
import type { AnyNotificationType } from "../../shared/notifications/catalogue.ts";
import { durationMs } from "../../shared/text/duration.ts";
import { parseTemplate, type Template } from "../../shared/text/template.ts";

type RuleConfig = Config["notify"][number];

/** A rule of the configuration whose texts are parsed. */
export interface Rule extends Pick<RuleConfig, "id" | "to" | "where"> {
  /** For a live rule: the types that end its message. */
  readonly on: ReadonlySet<AnyNotificationType>;
  /** Whether each job has one message, which follows its progress. */
  readonly isLive: boolean;
  readonly template: Template | undefined;
  readonly after: number;
  /** When the rule announces a job as slow; undefined if it does not. */
  readonly slow: SlowRule | undefined;
  readonly cooldownMs: number;
}

/** The values that `where` compares. A field is undefined if the record of the notification has none. */
export interface NotificationFacts {
  readonly name?: string | undefined;
  readonly jobId?: string | undefined;
  readonly metadataTerms?: readonly SearchTerm[] | undefined;
  readonly mapping?: string | undefined;
}

/** The cooldown of rules that wake the agent at once, unless they have their own: a turn may cause the next notification. */
const WAKE_COOLDOWN_MS = 60_000;

export function compileRules(rules: Config["notify"]): readonly Rule[] {
  return rules.map(({ on, template, after = 1, slow, cooldown, ...rule }) => ({
    ...rule,
    on: new Set(withoutProgress(on)),
    isLive: on.includes(PROGRESS),
    template: template === undefined ? undefined : parseTemplate(template, { hasRaw: true }),
    after,
    slow: on.includes("job.slow") ? compileSlow(rule.id, slow) : undefined,
    cooldownMs: cooldown === undefined ? (rule.to.wake === "now" ? WAKE_COOLDOWN_MS : 0) : durationMs(cooldown),
  }));
}

/** The factor of rules about slow jobs that have neither a factor nor a time of their own. */
const SLOW_FACTOR = 2;

function compileSlow(id: string, { factor, after = "1m", longerThan }: NonNullable<RuleConfig["slow"]> = {}): SlowRule {
  return {
    id,
    factor: factor ?? (longerThan === undefined ? SLOW_FACTOR : undefined),
    afterMs: durationMs(after),
    longerThanMs: longerThan === undefined ? undefined : durationMs(longerThan),
  };
}

/** Returns whether a rule handles a notification with these facts. All conditions that it has must match. */
export function matchesWhere({ where = {} }: Pick<Rule, "where">, facts: NotificationFacts): boolean {
  const { name, jobId, metadata = {}, mapping } = where;
  return (
    (name === undefined || (facts.name !== undefined && nameKey(facts.name).startsWith(nameKey(name)))) &&
    (jobId === undefined || facts.jobId?.startsWith(jobId) === true) &&
    (mapping === undefined || facts.mapping === mapping) &&
    Object.entries(metadata).every(([key, value]) => hasTerm(facts.metadataTerms ?? [], key, String(value)))
  );
}
