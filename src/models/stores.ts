import { Batcher, EQUAL_WEIGHTS } from "../shared/batcher.ts";
import type { Clock } from "../shared/clock.ts";
import { type ChangeNotifier, NO_NOTIFIER } from "../shared/queue/changeStream.ts";
import type { Database } from "./db/database.ts";
import { Leases } from "./db/lease.ts";
import { Deliveries } from "./deliveries/deliveries.ts";
import { EndedLogins } from "./endedLogin.ts";
import { GmailMailboxes } from "./gmailMailbox.ts";
import { HookCalls } from "./hooks/hookCall.ts";
import { IdempotencyKeys } from "./hooks/idempotencyKey.ts";
import { JobStatistics } from "./jobs/jobStats.ts";
import { Jobs } from "./jobs/jobs.ts";
import { Payloads } from "./jobs/payloads.ts";
import { REPORT_BATCHES, type Report, type ReportOutcome, writeReports } from "./jobs/writeReports.ts";
import { type RunView, readRunViews } from "./runs/readRuns.ts";
import { Runs } from "./runs/runs.ts";
import { Events } from "./sessions/event.ts";
import { Messages } from "./sessions/message.ts";
import { Sessions } from "./sessions/session.ts";

/** The collections with their queries, for routes, processors and commands. */
export interface Stores {
  readonly jobs: Jobs;
  readonly payloads: Payloads;
  readonly jobStatistics: JobStatistics;
  /** Applies reports on steps, concurrent ones in one batch. */
  readonly reports: Batcher<Report, ReportOutcome>;
  readonly runs: Runs;
  /** Reads runs as clients see them, concurrent reads in one round trip. */
  readonly runReads: Batcher<string, RunView | null>;
  readonly hookCalls: HookCalls;
  readonly sessions: Sessions;
  readonly messages: Messages;
  readonly events: Events;
  readonly deliveries: Deliveries;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly endedLogins: EndedLogins;
  readonly leases: Leases;
  readonly gmailMailboxes: GmailMailboxes;
}

/**
 * Opens the collections for one process.
 * @param changes is notified of changes that this process makes in these collections
 */
export function openStores(
  { collections }: Database,
  clock: Clock,
  settings: { staleAfterSeconds: number },
  changes: ChangeNotifier = NO_NOTIFIER,
): Stores {
  const payloads = new Payloads(collections.payloads);
  const jobs = new Jobs(collections.jobs, payloads, clock, changes, settings.staleAfterSeconds);
  const runs = new Runs(collections.runs, clock, changes);
  const sessions = new Sessions(collections.sessions, clock);
  const deliveries = new Deliveries(collections.deliveries, clock, changes);
  return {
    ...{ jobs, payloads, runs, sessions, deliveries },
    jobStatistics: new JobStatistics(jobs, clock),
    reports: new Batcher<Report, ReportOutcome>((reports) => writeReports({ jobs, payloads }, reports), REPORT_BATCHES),
    hookCalls: new HookCalls(collections.hookCalls, clock),
    messages: new Messages(collections.messages),
    events: new Events(collections.events, clock),
    runReads: new Batcher((runIds) => readRunViews({ runs, deliveries }, runIds), EQUAL_WEIGHTS),
    idempotencyKeys: new IdempotencyKeys(collections.idempotencyKeys, clock),
    endedLogins: new EndedLogins(collections.endedLogins),
    leases: new Leases(collections.leases, clock),
    gmailMailboxes: new GmailMailboxes(collections.gmailMailboxes, clock),
  };
}
