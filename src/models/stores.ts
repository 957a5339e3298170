import { Batcher } from "../shared/batcher.ts";
import { type Changes, NOBODY } from "../shared/changes.ts";
import type { Clock } from "../shared/clock.ts";
import { TIMINGS } from "../shared/timings.ts";
import { ALIKE, Together } from "../shared/together.ts";
import { claimRuns, type NotClaimed } from "./commands/claimRun.ts";
import { REPORT_BATCHES, type Report, type ReportOutcome, writeReports } from "./commands/writeReports.ts";
import type { Database } from "./database.ts";
import { Deliveries } from "./deliveries.ts";
import { EndedLogins } from "./endedLogin.ts";
import { Events } from "./event.ts";
import { GmailMailboxes } from "./gmailMailbox.ts";
import { HookCalls } from "./hookCall.ts";
import { IdempotencyKeys } from "./idempotencyKey.ts";
import { JobStatistics } from "./jobStats.ts";
import { Jobs } from "./jobs.ts";
import { Leases } from "./lease.ts";
import { Messages } from "./message.ts";
import { Payloads } from "./payloads.ts";
import type { AgentRun } from "./run.ts";
import { Runs } from "./runs.ts";
import { Sessions } from "./session.ts";

/** The collections with their queries: what routes, processors and commands work on. */
export interface Stores {
  readonly jobs: Jobs;
  readonly payloads: Payloads;
  readonly jobStatistics: JobStatistics;
  /** Applies reports on steps. */
  readonly reports: Batcher<Report, ReportOutcome>;
  /** Takes runs, by their ids, that are wanted at about the same time together. */
  readonly claims: Together<string, AgentRun | NotClaimed>;
  readonly runs: Runs;
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
 * @param changes who is to hear of what is changed in these collections by this process
 * @param leaseMs how long a worker has a run for itself without renewing its lease
 */
export function openStores(
  { collections }: Database,
  clock: Clock,
  settings: { staleAfterSeconds: number },
  changes: Changes = NOBODY,
  leaseMs: number = TIMINGS.lease.durationMs,
): Stores {
  const payloads = new Payloads(collections.payloads);
  const jobs = new Jobs(collections.jobs, payloads, clock, changes, settings.staleAfterSeconds);
  const runs = new Runs(collections.runs, clock, changes);
  const sessions = new Sessions(collections.sessions, clock);
  return {
    ...{ jobs, payloads, runs, sessions },
    jobStatistics: new JobStatistics(jobs, clock),
    reports: new Batcher<Report, ReportOutcome>((reports) => writeReports({ jobs, payloads }, reports), REPORT_BATCHES),
    claims: new Together((runIds) => claimRuns({ runs, sessions }, runIds, clock.now(), leaseMs), ALIKE),
    hookCalls: new HookCalls(collections.hookCalls, clock),
    messages: new Messages(collections.messages),
    events: new Events(collections.events, clock),
    deliveries: new Deliveries(collections.deliveries, clock, changes),
    idempotencyKeys: new IdempotencyKeys(collections.idempotencyKeys, clock),
    endedLogins: new EndedLogins(collections.endedLogins),
    leases: new Leases(collections.leases, clock),
    gmailMailboxes: new GmailMailboxes(collections.gmailMailboxes, clock),
  };
}
