import type { Config } from "../config/schema/config.ts";
import { Batcher, EQUAL_WEIGHTS } from "../shared/batcher.ts";
import type { Clock } from "../shared/clock.ts";
import { type ChangeNotifier, NO_NOTIFIER } from "../shared/queue/changeStream.ts";
import type { Run } from "../wire/run.ts";
import { AuditLog } from "./audit.ts";
import type { Database } from "./db/database.ts";
import type { Documents } from "./db/documents.ts";
import { Leases } from "./db/lease.ts";
import { Deliveries } from "./deliveries/deliveries.ts";
import { EndedLogins } from "./endedLogin.ts";
import { type JobCounter, type JobFiguresDoc, NO_JOB_COUNTER } from "./figures/jobFigures.ts";
import { AnswerLinks } from "./gates/answerLinks.ts";
import { Gates } from "./gates/gates.ts";
import { GmailMailboxes } from "./gmailMailbox.ts";
import { HookCalls } from "./hooks/hookCall.ts";
import { HookRequests } from "./hooks/hookRequests.ts";
import { IdempotencyKeys } from "./hooks/idempotencyKey.ts";
import { JobStatistics } from "./jobs/jobStats.ts";
import { Jobs } from "./jobs/jobs.ts";
import { Payloads } from "./jobs/payloads.ts";
import { REPORT_BATCHES, type Report, type ReportOutcome, writeReports } from "./jobs/reports/writeReports.ts";
import { Alerts } from "./notifications/alerts.ts";
import { Expectations } from "./notifications/expectation.ts";
import { LastScan } from "./notifications/lastScan.ts";
import { NO_NOTES, type NoteNotifier } from "./notifications/note.ts";
import { Outbox } from "./notifications/outbox.ts";
import {
  NO_NOTIFICATIONS,
  type WantedNotifications,
  wantedNotifications,
} from "./notifications/wantedNotifications.ts";
import { readRunViews } from "./runs/readRuns.ts";
import { Runs } from "./runs/runs.ts";
import { sumUsage } from "./runs/sumUsage.ts";
import { Events } from "./sessions/event.ts";
import { Messages } from "./sessions/message.ts";
import { Sessions } from "./sessions/session.ts";

/** The collections with their queries, for routes, processors and commands. */
export interface Stores {
  readonly jobs: Jobs;
  readonly payloads: Payloads;
  readonly jobStatistics: JobStatistics;
  /** The stored figures of jobs by time and name. */
  readonly jobFigures: Documents<JobFiguresDoc>;
  /** Applies reports on steps, concurrent ones in one batch. */
  readonly reports: Batcher<Report, ReportOutcome>;
  readonly gates: Gates;
  /** The links with which people answer gates without a log-in. */
  readonly answerLinks: AnswerLinks;
  readonly runs: Runs;
  /** Reads runs as clients see them, concurrent reads in one round trip. */
  readonly runReads: Batcher<string, Run | null>;
  readonly hookCalls: HookCalls;
  readonly hookRequests: HookRequests;
  readonly sessions: Sessions;
  readonly messages: Messages;
  readonly events: Events;
  readonly deliveries: Deliveries;
  /** The events that are not dispatched yet. */
  readonly outbox: Outbox;
  readonly alerts: Alerts;
  readonly expectations: Expectations;
  readonly lastScan: LastScan;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly endedLogins: EndedLogins;
  readonly audit: AuditLog;
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
export const storeSettings = (config: Pick<Config, "jobs" | "notify" | "outbound">): StoreSettings => ({
  ...config.jobs,
  wanted: wantedNotifications(config),
});

/**
 * Opens the collections for one process.
 * @param changes is notified of changes that this process makes in these collections
 * @param notes is notified of the events among them
 * @param counter counts the jobs that this process starts and ends
 */
export function openStores(
  { documents: collections }: Database,
  clock: Clock,
  { staleAfterSeconds, wanted = NO_NOTIFICATIONS }: StoreSettings,
  changes: ChangeNotifier = NO_NOTIFIER,
  notes: NoteNotifier = NO_NOTES,
  counter: JobCounter = NO_JOB_COUNTER,
): Stores {
  const payloads = new Payloads(collections.payloads);
  const jobs = new Jobs(collections.jobs, payloads, clock, changes, notes, { staleAfterSeconds, wanted }, counter);
  const runs = new Runs(collections.runs, clock, changes, notes, wanted);
  const sessions = new Sessions(collections.sessions, clock);
  const idempotencyKeys = new IdempotencyKeys(collections.idempotencyKeys, clock);
  const audit = new AuditLog(collections.audit, clock);
  const deliveries = new Deliveries(collections.deliveries, clock, changes, notes, wanted);
  return {
    jobs,
    payloads,
    runs,
    sessions,
    deliveries,
    jobFigures: collections.jobFigures,
    jobStatistics: new JobStatistics(jobs, clock, (since) => sumUsage(runs.collection, since)),
    reports: new Batcher<Report, ReportOutcome>((reports) => writeReports({ jobs, payloads }, reports), REPORT_BATCHES),
    hookCalls: new HookCalls(collections.hookCalls, clock),
    hookRequests: new HookRequests(collections.hookRequests),
    messages: new Messages(collections.messages),
    events: new Events(collections.events, clock),
    outbox: new Outbox(collections, clock, notes),
    alerts: new Alerts(collections.alerts),
    lastScan: new LastScan(collections.lastScan),
    expectations: new Expectations(collections.expectations, clock, notes),
    runReads: new Batcher((runIds) => readRunViews({ runs, deliveries }, runIds), EQUAL_WEIGHTS),
    idempotencyKeys,
    gates: new Gates(collections.gates, jobs, { clock, audit }),
    answerLinks: new AnswerLinks(idempotencyKeys),
    endedLogins: new EndedLogins(collections.endedLogins),
    audit,
    leases: new Leases(collections.leases, clock),
    gmailMailboxes: new GmailMailboxes(collections.gmailMailboxes, clock),
  };
}
