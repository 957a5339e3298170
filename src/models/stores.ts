import type { Config } from "../config/config.ts";
import { Batcher, EQUAL_WEIGHTS } from "../shared/batcher.ts";
import type { Clock } from "../shared/clock.ts";
import { type ChangeNotifier, NO_NOTIFIER } from "../shared/queue/changeStream.ts";
import { AuditLog } from "./audit.ts";
import { Budgets } from "./budgets/budget.ts";
import { ChatUpdates } from "./chat/chatUpdates.ts";
import type { Database } from "./database.ts";
import type { Documents } from "./db/documents.ts";
import { Leases } from "./db/lease.ts";
import { Deliveries } from "./deliveries/deliveries.ts";
import { EndedLogins } from "./endedLogin.ts";
import type { JobFiguresDoc } from "./figures/jobFigures.ts";
import { JobStats } from "./figures/jobStats.ts";
import { UsualDurations } from "./figures/usualDurations.ts";
import { AnswerLinks } from "./gates/answerLinks.ts";
import type { GateStores } from "./gates/gateStores.ts";
import { Gates } from "./gates/gates.ts";
import { GmailMailboxes } from "./gmailMailbox.ts";
import { IdempotencyKeys } from "./idempotencyKey.ts";
import { HookRequests } from "./intake/hookRequests.ts";
import type { IntakeStores } from "./intake/intakeStores.ts";
import { type JobCounter, NO_JOB_COUNTER } from "./jobs/jobCounter.ts";
import { Jobs } from "./jobs/jobs.ts";
import { Logs } from "./jobs/log/logs.ts";
import { Payloads } from "./jobs/payloads/payloads.ts";
import type { Report } from "./jobs/reports/reportUpdate.ts";
import { REPORT_BATCHES, type ReportOutcome, writeReports } from "./jobs/reports/writeReports.ts";
import { NO_NOTES, type NoteNotifier } from "./notes/note.ts";
import { NO_NOTIFICATIONS, type WantedNotifications, wantedNotifications } from "./notes/wantedNotifications.ts";
import { Alerts } from "./notifications/alerts.ts";
import { Expectations } from "./notifications/expectation.ts";
import { LastScan } from "./notifications/lastScan.ts";
import { LiveMessages } from "./notifications/liveMessage.ts";
import type { NotificationStores } from "./notifications/notificationStores.ts";
import { Outbox } from "./notifications/outbox.ts";
import { Spans } from "./notifications/spans.ts";
import { HookCalls } from "./runs/hookCall.ts";
import { readRunViews } from "./runs/readRuns.ts";
import { Runs } from "./runs/runs.ts";
import { sumUsage } from "./runs/usage/sumUsage.ts";
import { MainEvents } from "./sessions/mainEvent.ts";
import { Messages } from "./sessions/message.ts";
import { Sessions } from "./sessions/session.ts";

/** The collections with their queries, for routes, processors and commands. Each subject declares its own. */
export interface Stores extends GateStores, IntakeStores, NotificationStores {
  readonly jobStats: JobStats;
  /** The stored figures of jobs by time and name. */
  readonly jobFigures: Documents<JobFiguresDoc>;
  readonly endedLogins: EndedLogins;
  readonly audit: AuditLog;
  readonly budgets: Budgets;
  readonly chatUpdates: ChatUpdates;
  readonly leases: Leases;
  readonly gmailMailboxes: GmailMailboxes;
}

/** The settings that the writes of a process depend on. */
export interface StoreSettings {
  readonly staleAfterSeconds: number;
  /** The events that are noted; without it none. */
  readonly wanted?: WantedNotifications;
}

/** Returns the settings of the stores under a configuration. */
export const storeSettings = (config: Pick<Config, "jobs" | "notify" | "outbound" | "otel">): StoreSettings => ({
  ...config.jobs,
  wanted: wantedNotifications(config),
});

/** The settings of the stores, and what is notified of their writes; by default nothing is. */
export interface StoreOptions extends StoreSettings {
  /** Is notified of changes that this process makes in the collections. */
  readonly changes?: ChangeNotifier;
  /** Is notified of the notifications that these changes note. */
  readonly notes?: NoteNotifier;
  /** Counts the jobs that this process starts and ends. */
  readonly counter?: JobCounter;
}

/** Opens the collections for one process. */
export function openStores({ documents: collections }: Database, clock: Clock, options: StoreOptions): Stores {
  const { staleAfterSeconds, counter = NO_JOB_COUNTER } = options;
  const { changes = NO_NOTIFIER, notes = NO_NOTES, wanted = NO_NOTIFICATIONS } = options;
  const noted = { changes, notes, wanted };
  const usual = new UsualDurations(collections.jobFigures, clock);
  const payloads = new Payloads(collections.payloads);
  const jobs = new Jobs(collections.jobs, payloads, { ...noted, clock, counter, staleAfterSeconds, usual });
  const runs = new Runs(collections.runs, clock, noted);
  const sessions = new Sessions(collections.sessions, clock);
  const idempotencyKeys = new IdempotencyKeys(collections.idempotencyKeys, clock);
  const audit = new AuditLog(collections.audit, clock);
  const deliveries = new Deliveries(collections.deliveries, clock, noted);
  return {
    jobs,
    payloads,
    logs: new Logs({ chunks: collections.logChunks, sizes: collections.logSizes }, jobs, { clock, changes }),
    runs,
    sessions,
    deliveries,
    threadLinks: collections.threadLinks,
    jobFigures: collections.jobFigures,
    jobStats: new JobStats(jobs, clock, (since) => sumUsage(runs.collection, since)),
    reports: new Batcher<Report, ReportOutcome>((reports) => writeReports({ jobs, payloads }, reports), REPORT_BATCHES),
    hookCalls: new HookCalls(collections.hookCalls, clock),
    hookRequests: new HookRequests(collections.hookRequests),
    messages: new Messages(collections.messages),
    mainEvents: new MainEvents(collections.events, clock),
    outbox: new Outbox(collections, clock, notes),
    alerts: new Alerts(collections.alerts),
    lastScan: new LastScan(collections.lastScan),
    liveMessages: new LiveMessages(collections.liveMessages),
    spans: new Spans(collections.spans, clock),
    expectations: new Expectations(collections.expectations, clock, notes),
    runReads: new Batcher((runIds) => readRunViews({ runs, deliveries }, runIds), EQUAL_WEIGHTS),
    idempotencyKeys,
    gates: new Gates(collections.gates, jobs, { clock, audit }),
    answerLinks: new AnswerLinks(idempotencyKeys),
    endedLogins: new EndedLogins(collections.endedLogins),
    audit,
    budgets: new Budgets(collections.budgets, collections.budgetSpent, clock),
    chatUpdates: new ChatUpdates(collections.chatUpdates, clock),
    leases: new Leases(collections.leases, clock),
    gmailMailboxes: new GmailMailboxes(collections.gmailMailboxes, clock),
  };
}
