import type { Clock } from "../shared/clock.ts";
import type { Database } from "./database.ts";
import { Deletions } from "./deletion.ts";
import { Jobs } from "./job.ts";
import { Steps } from "./step.ts";

/** The collections with their queries: what routes, processors and commands work on. */
export interface Stores {
  readonly jobs: Jobs;
  readonly steps: Steps;
  readonly deletions: Deletions;
}

export function openStores(database: Database, clock: Clock, settings: { staleAfterSeconds: number }): Stores {
  const { jobs, steps, deletions } = database.collections;
  return {
    jobs: new Jobs(jobs, clock, settings.staleAfterSeconds),
    steps: new Steps(steps, clock),
    deletions: new Deletions(deletions, clock),
  };
}
