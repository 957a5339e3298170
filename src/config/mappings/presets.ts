import { isObject } from "../../shared/text/json.ts";
import type { Json } from "../fill.ts";
import { JOB_PRESETS, type JobPreset } from "./jobPresets.ts";
import type { SENDERS } from "./mapping.ts";
import type { WhenValue } from "./match.ts";

/** The keys of a mapping that a preset sets, as the configuration file would have them. */
export interface SenderPreset {
  /** How the sender authenticates, without its secret or token. */
  readonly auth: { readonly type: string; readonly header?: string; readonly prefix?: string };
  /** The conditions that leave noise out. */
  readonly when: Readonly<Record<string, WhenValue>>;
  readonly name: string;
  readonly sessionKey: string;
  /** Also the text of the event, for `action: wake`. */
  readonly messageTemplate: string;
  readonly forEach?: string;
  readonly maxBodyBytes?: number;
}

const MIB = 1024 * 1024;

const lines = (...texts: string[]): string => texts.join("\n");

/**
 * New issues, pull requests, comments and reviews of people. Bots are left out, so that an agent that comments as one does not
 * start itself.
 * Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
const github: SenderPreset = {
  auth: { type: "github" },
  when: {
    "headers.x-github-event": ["issues", "issue_comment", "pull_request", "pull_request_review"],
    "payload.action": ["opened", "reopened", "ready_for_review", "created", "submitted"],
    "payload.sender.type": "User",
  },
  name: "GitHub {{repository.full_name}}",
  sessionKey: "hook:github:{{repository.full_name}}",
  messageTemplate: lines(
    "{{headers.x-github-event}} {{action}} in {{repository.full_name}} by {{sender.login}}",
    "#{{issue.number}}{{pull_request.number}} {{issue.title}}{{pull_request.title}}",
    "{{issue.html_url}}{{pull_request.html_url}}",
    "Text: {{issue.body}}{{pull_request.body}}",
    "Comment or review: {{review.state}} {{comment.body}}{{review.body}}",
  ),
  maxBodyBytes: MIB,
};

/**
 * New issues, merge requests and comments.
 * Source: https://docs.gitlab.com/user/project/integrations/webhook_events/
 */
const gitlab: SenderPreset = {
  auth: { type: "token", header: "X-Gitlab-Token" },
  when: {
    "payload.object_kind": ["issue", "merge_request", "note"],
    "payload.object_attributes.action": ["open", "reopen", "create"],
  },
  name: "GitLab {{project.path_with_namespace}}",
  sessionKey: "hook:gitlab:{{project.path_with_namespace}}",
  messageTemplate: lines(
    "{{object_kind}} {{object_attributes.action}} in {{project.path_with_namespace}} by {{user.username}}",
    "{{object_attributes.title}}{{issue.title}}{{merge_request.title}}",
    "{{object_attributes.url}}",
    "Text: {{object_attributes.description}}",
    "Comment: {{object_attributes.note}}",
  ),
  maxBodyBytes: MIB,
};

/**
 * Events that somebody may have to act on: failures, disputes, warnings of fraud and ended subscriptions.
 * Source: https://docs.stripe.com/api/events/types
 */
const stripe: SenderPreset = {
  auth: { type: "stripe" },
  when: {
    "payload.type": [
      "payment_intent.payment_failed",
      "invoice.payment_failed",
      "payout.failed",
      "charge.dispute.created",
      "radar.early_fraud_warning.created",
      "customer.subscription.deleted",
    ],
  },
  name: "Stripe {{type}}",
  sessionKey: "hook:stripe:{{data.object.customer}}",
  messageTemplate: lines(
    "{{type}}: {{data.object.object}} {{data.object.id}}",
    "Customer: {{data.object.customer}}, live mode: {{livemode}}",
    "Amount in the smallest unit, such as cents: {{data.object.amount}}{{data.object.amount_remaining}} {{data.object.currency}}",
    "Reason: {{data.object.last_payment_error.message}}{{data.object.failure_message}}{{data.object.reason}}{{data.object.cancellation_details.reason}}",
    "Code: {{data.object.last_payment_error.code}}{{data.object.failure_code}} {{data.object.last_payment_error.decline_code}}",
    "{{data.object.description}} {{data.object.hosted_invoice_url}}",
  ),
};

/**
 * Issue alerts.
 * Source: https://docs.sentry.io/integrations/integration-platform/webhooks/issue-alerts/
 */
const sentry: SenderPreset = {
  auth: { type: "hmac", header: "Sentry-Hook-Signature" },
  when: { "headers.sentry-hook-resource": "event_alert", "payload.action": "triggered" },
  name: "Sentry {{data.event.title}}",
  sessionKey: "hook:sentry:{{data.event.issue_id}}",
  messageTemplate: lines(
    "{{data.event.title}}",
    "Rule: {{data.triggered_rule}}",
    "Level: {{data.event.level}}, platform: {{data.event.platform}}",
    "Where: {{data.event.culprit}}, {{data.event.request.url}}",
    "{{data.event.web_url}}",
  ),
  maxBodyBytes: MIB,
};

/**
 * Notifications with a firing alert, of Grafana or of Prometheus' Alertmanager, which have the same form. Their resolved alerts
 * are left in, because they concern the same incident.
 * @param sender what the names of the runs begin with
 * @param more further lines of the message
 */
const alerts = (key: string, sender: string, ...more: string[]): SenderPreset => ({
  auth: { type: "token" },
  when: { "payload.status": "firing" },
  forEach: "alerts",
  name: `${sender} {{item.labels.alertname}}`,
  sessionKey: `hook:${key}:{{item.fingerprint}}`,
  messageTemplate: lines(
    "{{item.labels.alertname}}: {{item.status}}, began {{item.startsAt}}",
    "{{item.annotations.summary}}",
    "{{item.annotations.description}}",
    "Labels: {{item.labels}}",
    ...more,
    "{{item.generatorURL}}",
  ),
});

/**
 * Source:
 * https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
 */
const grafana = alerts("grafana", "Grafana", "Values: {{item.values}}");

/** Source: https://prometheus.io/docs/alerting/latest/configuration/ */
const alertmanager = alerts("alertmanager", "Alert");

/**
 * Incidents that begin, begin again or go to the next person.
 * Source: https://developer.pagerduty.com/docs/webhooks-overview
 */
const pagerduty: SenderPreset = {
  auth: { type: "hmac", header: "X-PagerDuty-Signature", prefix: "v1=" },
  when: {
    "payload.event.event_type": ["incident.triggered", "incident.reopened", "incident.escalated"],
  },
  name: "PagerDuty {{event.data.service.summary}}",
  sessionKey: "hook:pagerduty:{{event.data.id}}",
  messageTemplate: lines(
    "{{event.event_type}}: {{event.data.title}}",
    "Service: {{event.data.service.summary}}",
    "Urgency: {{event.data.urgency}}, priority: {{event.data.priority.summary}}, status: {{event.data.status}}",
    "Assigned to: {{event.data.assignees[0].summary}}, since {{event.occurred_at}}",
    "{{event.data.html_url}}",
  ),
};

/** New issues. Source: https://linear.app/developers/webhooks */
const linear: SenderPreset = {
  auth: { type: "hmac", header: "Linear-Signature" },
  when: { "payload.type": "Issue", "payload.action": "create" },
  name: "Linear {{data.team.key}}-{{data.number}}",
  sessionKey: "hook:linear:{{data.id}}",
  messageTemplate: lines(
    "{{data.team.key}}-{{data.number}}: {{data.title}}",
    "By {{actor.name}} in the team {{data.team.name}}, state {{data.state.name}}, priority {{data.priorityLabel}}",
    "{{url}}",
    "Text: {{data.description}}",
  ),
};

/**
 * Mails that did not arrive, and recipients who complain or unsubscribe.
 * Source: https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
 */
const sendgrid: SenderPreset = {
  auth: { type: "sendgrid" },
  when: { "item.event": ["bounce", "dropped", "spamreport", "unsubscribe", "group_unsubscribe"] },
  forEach: ".",
  name: "SendGrid {{item.event}}",
  sessionKey: "hook:sendgrid:{{item.email}}",
  messageTemplate: lines(
    "{{item.event}}: {{item.email}}",
    "Reason: {{item.reason}} {{item.status}} {{item.type}}",
    "Category: {{item.category}}, subject: {{item.subject}}",
    "Message: {{item.sg_message_id}}",
  ),
};

/**
 * Notifications of the topics in `auth.topicArns`. The requests in which SNS asks to confirm a subscription are answered by
 * themselves.
 * Source: https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
 */
const sns: SenderPreset = {
  auth: { type: "sns" },
  when: { "payload.Type": "Notification" },
  name: "SNS {{Subject}}",
  sessionKey: "hook:sns:{{TopicArn}}",
  messageTemplate: lines("{{Subject}}", "{{Message}}", "Topic: {{TopicArn}}, sent {{Timestamp}}"),
};

/** The presets that `preset` of a mapping may name. */
export const SENDER_PRESETS: Readonly<Record<(typeof SENDERS)[number], SenderPreset>> = {
  github,
  gitlab,
  stripe,
  sentry,
  grafana,
  alertmanager,
  pagerduty,
  linear,
  sendgrid,
  sns,
};

/** Returns the path of the number by which the events of a preset are ordered: see `JobPreset`. */
export const attemptPathOf = (name: string | undefined): string | undefined =>
  isJobSender(name) ? (JOB_PRESETS[name] as JobPreset).attempt : undefined;

/** Returns the texts that a preset fills in. */
export const presetTemplates = (name: string | undefined): readonly unknown[] =>
  isSender(name) ? Object.values(SENDER_PRESETS[name]) : [];

/**
 * Adds to each mapping with a `preset` the keys that it does not set itself, in place. Faulty values are left for the schema to
 * report.
 */
export function fillPresets({ hooks }: Json): void {
  if (!isObject(hooks) || !Array.isArray(hooks.mappings)) return;
  hooks.mappings = hooks.mappings.map((mapping: unknown) => {
    const name = isObject(mapping) ? mapping.preset : undefined;
    if (isSender(name)) return withPreset(mapping as Json, name, SENDER_PRESETS[name]);
    return isJobSender(name) ? withJobPreset(mapping as Json, name, JOB_PRESETS[name]) : mapping;
  });
}

const isSender = (name: unknown): name is keyof typeof SENDER_PRESETS =>
  typeof name === "string" && Object.hasOwn(SENDER_PRESETS, name);

const isJobSender = (name: unknown): name is keyof typeof JOB_PRESETS =>
  typeof name === "string" && Object.hasOwn(JOB_PRESETS, name);

/** A mapping with another action of its own keeps that, without the job. */
function withJobPreset(mapping: Json, name: string, { auth, when, job, maxBodyBytes }: JobPreset): Json {
  const { action = "job", match = {}, job: own = {} } = mapping;
  return {
    maxBodyBytes,
    ...mapping,
    action,
    ...(action === "job" && { job: isObject(own) ? { ...job, ...own } : own }),
    match: isObject(match) ? { path: name, when, ...match } : match,
    ...(auth && { auth: withKind(mapping.auth ?? {}, auth) }),
  };
}

function withPreset(mapping: Json, name: string, { auth, when, ...keys }: SenderPreset): Json {
  const { match = {}, auth: own = {} } = mapping;
  return {
    ...(mapping.action === "wake" ? wakeKeys(keys) : keys),
    ...mapping,
    match: isObject(match) ? { path: name, when, ...match } : match,
    auth: withKind(own, auth),
  };
}

/** Adds a preset's kind of authentication to a mapping's own keys, unless those are of another kind, which has other keys. */
function withKind(own: unknown, auth: { readonly type: string }): unknown {
  const isOtherKind = isObject(own) && own.type !== undefined && own.type !== auth.type;
  return isObject(own) && !isOtherKind ? { ...auth, ...own } : own;
}

/** Returns the keys of a preset that an event of the main session has. */
const wakeKeys = ({ messageTemplate, sessionKey: _, ...keys }: Omit<SenderPreset, "auth" | "when">): Json => ({
  ...keys,
  textTemplate: messageTemplate,
});
