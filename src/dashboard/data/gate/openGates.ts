import { signal } from "@preact/signals";
import type { JobSummary } from "../../../client/client.ts";
import { throttle } from "../live/throttle.ts";
import { service } from "../service.ts";

/** Maximum number of gates that the header counts. */
export const MAX_COUNTED = 100;
/** Minimum interval of the requests that events cause. */
const RELOAD_EVERY_MS = 1_000;

/** The number of open gates; `MAX_COUNTED + 1` for more. Null until the service has responded. */
export const openGates = signal<number | null>(null);

let waiting: ReadonlySet<string> = new Set();

/** Counts the open gates. Keeps the former number if that fails: the page itself shows the error. */
export async function countOpenGates(): Promise<void> {
  const page = await service.gates.list({ status: "open", limit: MAX_COUNTED }).catch(() => null);
  if (!page) return;
  openGates.value = page.gates.length + (page.nextCursor ? 1 : 0);
  waiting = new Set(page.gates.map(({ jobId }) => jobId));
}

const countSoon = throttle(() => void countOpenGates(), RELOAD_EVERY_MS);

/** Counts again when a live event shows that a job has begun or stopped to wait. */
export function noticeJob({ jobId, waitingFor }: JobSummary): void {
  if (waitingFor.length > 0 || waiting.has(jobId)) countSoon();
}
