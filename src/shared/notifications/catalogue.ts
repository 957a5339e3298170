import {
  after,
  decided,
  escapeMarkdown,
  linked,
  logBlock,
  moment,
  quote,
  span,
  strong,
  withoutAnswer,
} from "./phrases.ts";
import { DELIVERY, GATE, JOB, RUN, SAMPLE_TIME, STEP } from "./samples.ts";
import { type ShownData, SUBJECTS } from "./subjects.ts";

/** A type of notification: a change of state that the rules of `notify` send. */
interface Entry {
  /** The kind of its subject. Filters of rules, the parts that webhooks include, and links depend on it. */
  readonly about: keyof typeof SUBJECTS;
  /** When it happens, for the reference: a sentence without its subject. */
  readonly when: string;
  /** The verb phrase of its title, which follows the name of the subject. */
  readonly title: string;
  /** Returns the paragraphs of its text in Markdown, for rules without a template. */
  text(data: ShownData, at: Date): string[];
  /** An example of its data, for the reference. A test compares its fields with those of real notifications. */
  readonly example: object;
}

const jobName = (data: ShownData): string => strong(SUBJECTS.job.name(data));
const runName = (data: ShownData): string => strong(SUBJECTS.run.name(data));

/**
 * The catalogue of notifications, in the order of the reference. Types are public: they are added, never renamed. A new type
 * is one entry here and the place that notes it; the configuration, the stored types, the texts and the reference follow.
 */
export const NOTIFICATIONS = {
  "job.completed": {
    about: "job",
    when: "a job completes: by a report, or by `PUT /api/jobs/:jobId`",
    title: "completed",
    text: (data, at) => [
      `${jobName(data)} completed${after(data.job.createdAt, at)}.`,
      ...quote(data.job.message),
      ...linked(data.job.links),
    ],
    example: { job: { ...JOB, status: "completed", progress: 100, message: "1,030 files loaded" } },
  },
  "job.failed": {
    about: "job",
    when: "a job fails: by a report, by `PUT`, or because it was cancelled by force",
    title: "failed",
    text: (data, at) => [
      `${jobName(data)} failed${after(data.job.createdAt, at)}.`,
      ...quote(data.job.message ?? data.reason),
      ...logBlock(data.log),
      ...linked(data.job.links),
    ],
    example: {
      job: { ...JOB, status: "failed", message: "The disk is full" },
      log: ["412 of 1,030 files", "cp: No space left on device"],
    },
  },
  "job.stale": {
    about: "job",
    when: "a running job has not been reported for `staleAfterSeconds`",
    title: "is no longer reported",
    text: (data) => {
      const { progress, message, currentStep, lastReportAt, createdAt } = data.job;
      const step = currentStep ? ` in step ${strong(currentStep.stepName)}` : "";
      const since = moment(lastReportAt ?? createdAt);
      return [
        `${jobName(data)} has not been reported since ${since}, at ${progress} %${step}.`,
        ...quote(message),
        ...linked(data.job.links),
      ];
    },
    example: {
      job: { ...JOB, stale: true, staleAt: "2026-01-31T18:27:00.000Z", currentStep: STEP },
      lastReportAt: JOB.lastReportAt,
    },
  },
  "job.recovered": {
    about: "job",
    when: "the first report arrives for a job that the same rule has announced as stale",
    title: "is reported again",
    text: (data) => [`${jobName(data)} is reported again, at ${data.job.progress} %.`, ...quote(data.job.message)],
    example: {
      job: { ...JOB, staleAt: "2026-01-31T18:45:00.000Z", lastReportAt: SAMPLE_TIME },
      lastReportAt: SAMPLE_TIME,
    },
  },
  "job.slow": {
    about: "job",
    when: "a running job takes longer than `slow` of a rule allows: once for each start of the job and rule",
    title: "takes longer than usual",
    text: ({ job, elapsedMs = 0, usual }) => [
      `${jobName({ job } as ShownData)} has been running for ${span(elapsedMs)}, at ${job.progress} %.${usual ? ` Usually it takes ${span(usual.p50Ms)}.` : ""}`,
      ...quote(job.message),
      ...linked(job.links),
    ],
    example: {
      job: { ...JOB, createdAt: "2026-01-31T16:55:00.000Z", expectedEndAt: "2026-01-31T17:25:00.000Z" },
      elapsedMs: 5_700_000,
      usual: JOB.usual,
    },
  },
  "job.missing": {
    about: "expectation",
    when: "no new job has the name of an expectation (`expect`) in time",
    title: "is missing",
    text: ({ expect, lastSeenAt }) => {
      const last = lastSeenAt ? `The last one was created at ${moment(lastSeenAt)}.` : "None has been created so far.";
      return [`No job ${strong(expect.name)} was created in time. ${last}`];
    },
    example: { expect: { id: "backup", name: "Nightly backup" }, lastSeenAt: "2026-01-30T02:00:00.000Z" },
  },
  "run.completed": {
    about: "run",
    when: "a run of the agent completes",
    title: "completed",
    text: (data) => [`${runName(data)} completed.`],
    example: { run: RUN },
  },
  "run.failed": {
    about: "run",
    when: "a run fails, after its last attempt",
    title: "failed",
    text: (data) => [`${runName(data)} failed.`, ...quote(data.run.error?.message)],
    example: {
      run: {
        ...RUN,
        status: "failed",
        attempts: 4,
        error: { code: "agent_unavailable", message: "The model server answered 503." },
      },
    },
  },
  "run.dropped": {
    about: "run",
    when: "the transform of a mapping drops a request",
    title: "was dropped",
    text: (data) => [`${runName(data)} was dropped by its transform.`],
    example: { run: { ...RUN, status: "dropped", startedAt: null } },
  },
  "budget.reached": {
    about: "run",
    when: "the runs that a budget with `then: warn` counts reach its limit, once in its period",
    title: "has reached a budget",
    text: (data) => [
      `${runName(data)} has reached the budget ${strong(data.budget.id)}: ${escapeMarkdown(data.budget.used)}.`,
    ],
    example: { run: RUN, budget: { id: "daily", per: "day", used: "$5.12 of $5" } },
  },
  "delivery.failed": {
    about: "delivery",
    when: "a delivery is given up, except one that carries this event itself",
    title: "failed",
    text: ({ delivery }) => [`A delivery to ${strong(delivery.channel)} failed.`, ...quote(delivery.reason)],
    example: { delivery: DELIVERY },
  },
  "gate.opened": {
    about: "gate",
    when: "a job asks a question",
    title: "asks a question",
    text: (data) => [
      `${jobName(data)} asks: ${strong(data.gate.title)}`,
      ...quote(data.gate.message),
      ...withoutAnswer(data.gate),
    ],
    example: { job: { ...JOB, waitingFor: [GATE.key] }, gate: GATE },
  },
  "gate.answered": {
    about: "gate",
    when: "a question is answered",
    title: "was answered",
    text: (data) => {
      const action = escapeMarkdown(String(data.gate.action));
      return [`The question ${strong(data.gate.title)} of ${jobName(data)} was answered: ${action}.`];
    },
    example: {
      job: JOB,
      gate: { ...GATE, status: "answered", action: "accept", answeredBy: "ada", answeredAt: SAMPLE_TIME },
    },
  },
  "gate.expired": {
    about: "gate",
    when: "a question gets no answer in time",
    title: "got no answer",
    text: (data) => {
      const { title, action } = data.gate;
      return [
        `The question ${strong(title)} of ${jobName(data)} has expired without an answer. It counts as ${decided(action)}.`,
      ];
    },
    example: { job: JOB, gate: { ...GATE, status: "expired", action: "decline", answeredBy: "expiry" } },
  },
  test: {
    about: "rule",
    when: "somebody tests a rule. It cannot be named in `on`",
    title: "is tested",
    text: ({ rule }) => [`This is a test of the notification rule ${strong(rule)}.`],
    example: { rule: "sales" },
  },
} as const satisfies Record<string, Entry>;

/** A type that is stored and sent: one that rules name, or `test`, which an operator requests for one rule. */
export type AnyNotificationType = keyof typeof NOTIFICATIONS;
/** A type that rules can name in `on`. */
export type NotificationType = Exclude<AnyNotificationType, "test">;

export const ANY_NOTIFICATION_TYPES = Object.keys(NOTIFICATIONS) as AnyNotificationType[];
export const NOTIFICATION_TYPES = ANY_NOTIFICATION_TYPES.filter((type) => type !== "test");

/** Returns what a notification is about. */
export const aboutOf = (type: AnyNotificationType): keyof typeof SUBJECTS => NOTIFICATIONS[type].about;

/** Returns the name of the subject of a notification, on one line or more. */
export const subjectName = (type: AnyNotificationType, data: Partial<ShownData>): string =>
  SUBJECTS[aboutOf(type)].name(data as ShownData);

/** Returns the path of the subject of a notification in the dashboard. */
export const subjectPath = (type: AnyNotificationType, data: Partial<ShownData>): string =>
  SUBJECTS[aboutOf(type)].path(data as ShownData);

/** Returns the paragraphs of the default text of a notification, in Markdown. */
export const defaultText = (type: AnyNotificationType, data: Partial<ShownData>, at: Date): string[] =>
  NOTIFICATIONS[type].text(data as ShownData, at);
