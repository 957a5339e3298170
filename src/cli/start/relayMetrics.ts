import {
  answerMetricsRequests,
  OFFER,
  type Peer,
  requestWorkerMetrics,
  sendTo,
} from "../../shared/process/workerMetrics.ts";

/** How long the worker has to report its metrics. Shorter than the time that the web process waits for them. */
const WORKER_TIMEOUT_MS = 1_500;

/**
 * Lets a web process read the metrics of the worker through this process, their parent.
 * @param worker returns the running worker; undefined while it is restarted
 */
export function relayMetrics(web: Peer, worker: () => Peer | undefined): void {
  answerMetricsRequests(web, async () => {
    const running = worker();
    return running ? requestWorkerMetrics(running, WORKER_TIMEOUT_MS) : "";
  });
  sendTo(web, OFFER);
}
