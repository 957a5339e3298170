import type { Static } from "typebox";
import type { Queues } from "../../shared/enqueue.ts";
import { type acceptedRuns, RUN_QUEUES } from "../../shared/queues.ts";
import type { Processor } from "../run.ts";

/** Puts each of the runs that were accepted together on its queue. */
export function acceptedRunsProcessor(queues: Pick<Queues, "add">): Processor {
  return async ({ payload }) => {
    const { queue, runIds, priorities = [] } = payload as Static<typeof acceptedRuns.payload>;
    const def = RUN_QUEUES.find(({ name }) => name === queue);
    if (!def) throw new Error(`there is no queue of runs ${queue}`);
    await Promise.all(
      runIds.map((runId, i) => queues.add(def, { runId }, { jobId: runId, priority: priorities[i] ?? 0 })),
    );
    return { kind: "done", result: { runs: runIds.length } };
  };
}
