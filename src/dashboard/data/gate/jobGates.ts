import { useEffect } from "preact/hooks";
import type { Gate, Job } from "../../../client/client.ts";
import { useThrottle } from "../live/useThrottle.ts";
import { service } from "../service.ts";
import { type Query, useQuery } from "../useQuery.ts";

/** Reads the newest gates of a job, oldest first, and again when they may have changed. */
export function useJobGates(job: Job): Query<Gate[]> {
  const { jobId, createdAt, waitingFor } = job;
  const query = useQuery(
    async (signal) => (await service.gates.list({ jobId }, { signal })).gates.toReversed(),
    `${createdAt} ${waitingFor.join("\n")}`,
  );
  const reloadSoon = useThrottle(query.reload);
  // A question that changes sends an event of its job, like a report.
  useEffect(() => {
    if (waitingFor.length > 0) reloadSoon();
  }, [job]);
  return query;
}
