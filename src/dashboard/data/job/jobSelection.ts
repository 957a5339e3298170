import { signal } from "@preact/signals";
import { SignalboxError } from "../../../client/client.ts";

/** The ids of the selected jobs. */
export const selectedJobs = signal<ReadonlySet<string>>(new Set());

export function selectJob(jobId: string, isSelected: boolean): void {
  const next = new Set(selectedJobs.value);
  if (isSelected) next.add(jobId);
  else next.delete(jobId);
  selectedJobs.value = next;
}

export function clearSelection(): void {
  if (selectedJobs.value.size > 0) selectedJobs.value = new Set();
}

/** Maximum concurrent requests: as many as a browser has connections to one server, but for one. */
const MAX_CONCURRENCY = 5;

export interface Outcome {
  readonly done: number;
  /** The jobs that were deleted or had ended before the request arrived. */
  readonly gone: number;
  readonly failed: readonly { readonly jobId: string; readonly error: unknown }[];
}

/** Sends one request for each job, some of them at a time. */
export async function forEachJob(
  jobIds: readonly string[],
  request: (jobId: string) => Promise<unknown>,
): Promise<Outcome> {
  const waiting = [...jobIds];
  const failed: { jobId: string; error: unknown }[] = [];
  let [done, gone] = [0, 0];
  const work = async () => {
    for (let jobId = waiting.shift(); jobId !== undefined; jobId = waiting.shift()) {
      try {
        await request(jobId);
        done += 1;
      } catch (error) {
        if (isGone(error)) gone += 1;
        else failed.push({ jobId, error });
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENCY }, work));
  return { done, gone, failed };
}

const isGone = (error: unknown): boolean =>
  error instanceof SignalboxError && ["job_not_found", "job_ended"].includes(error.code);
