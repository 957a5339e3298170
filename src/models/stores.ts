import { type Changes, NOBODY } from "../shared/changes.ts";
import type { Clock } from "../shared/clock.ts";
import { ALIKE, Together } from "../shared/together.ts";
import { type RunView, readRunViews } from "./commands/readRuns.ts";
import { type JudgedReport, REPORTS_TOGETHER, type ReportOutcome, reportSteps } from "./commands/reportSteps.ts";
import type { Database } from "./database.ts";
import { Deletions } from "./deletion.ts";
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
import { Runs } from "./runs.ts";
import { Sessions } from "./session.ts";
import { Steps } from "./step.ts";

/** The collections with their queries: what routes, processors and commands work on. */
export interface Stores {
  readonly jobs: Jobs;
  readonly steps: Steps;
  readonly jobStatistics: JobStatistics;
  /** Writes reports that arrive together together. */
  readonly reports: Together<JudgedReport, ReportOutcome>;
  readonly deletions: Deletions;
  readonly runs: Runs;
  /** Reads runs as clients see them: those asked for at about the same time in one round trip. */
  readonly runReads: Together<string, RunView | null>;
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
 */
export function openStores(
  { collections }: Database,
  clock: Clock,
  settings: { staleAfterSeconds: number },
  changes: Changes = NOBODY,
): Stores {
  const jobs = new Jobs(collections.jobs, clock, changes, settings.staleAfterSeconds);
  const steps = new Steps(collections.steps, clock, changes);
  const runs = new Runs(collections.runs, clock, changes);
  const sessions = new Sessions(collections.sessions, clock);
  const deliveries = new Deliveries(collections.deliveries, clock, changes);
  return {
    ...{ jobs, steps, runs, sessions, deliveries },
    jobStatistics: new JobStatistics(jobs, clock),
    reports: new Together((reports) => reportSteps({ jobs, steps }, reports), REPORTS_TOGETHER),
    deletions: new Deletions(collections.deletions, clock),
    hookCalls: new HookCalls(collections.hookCalls, clock),
    messages: new Messages(collections.messages),
    events: new Events(collections.events, clock),
    runReads: new Together((runIds) => readRunViews({ runs, deliveries }, runIds), ALIKE),
    idempotencyKeys: new IdempotencyKeys(collections.idempotencyKeys, clock),
    endedLogins: new EndedLogins(collections.endedLogins),
    leases: new Leases(collections.leases, clock),
    gmailMailboxes: new GmailMailboxes(collections.gmailMailboxes, clock),
  };
}
