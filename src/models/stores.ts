import type { Clock } from "../shared/clock.ts";
import type { Database } from "./database.ts";
import { Deletions } from "./deletion.ts";
import { Deliveries } from "./delivery.ts";
import { Events } from "./event.ts";
import { IdempotencyKeys } from "./idempotencyKey.ts";
import { Jobs } from "./job.ts";
import { Leases } from "./lease.ts";
import { Messages } from "./message.ts";
import { Runs } from "./run.ts";
import { Sessions } from "./session.ts";
import { Steps } from "./step.ts";

/** The collections with their queries: what routes, processors and commands work on. */
export interface Stores {
  readonly jobs: Jobs;
  readonly steps: Steps;
  readonly deletions: Deletions;
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly messages: Messages;
  readonly events: Events;
  readonly deliveries: Deliveries;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly leases: Leases;
}

export function openStores({ collections }: Database, clock: Clock, settings: { staleAfterSeconds: number }): Stores {
  return {
    jobs: new Jobs(collections.jobs, clock, settings.staleAfterSeconds),
    steps: new Steps(collections.steps, clock),
    deletions: new Deletions(collections.deletions, clock),
    runs: new Runs(collections.runs, clock),
    sessions: new Sessions(collections.sessions, clock),
    messages: new Messages(collections.messages),
    events: new Events(collections.events, clock),
    deliveries: new Deliveries(collections.deliveries, clock),
    idempotencyKeys: new IdempotencyKeys(collections.idempotencyKeys, clock),
    leases: new Leases(collections.leases, clock),
  };
}
