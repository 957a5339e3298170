import { collectDefaultMetrics, Registry } from "prom-client";

/** Node's metrics of this process, for all registries: their observers of the garbage collector and the event loop never end. */
/** Maximum time to read a metric from another server, so that one that hangs does not block all metrics. */
export const COLLECT_TIMEOUT_MS = 2_000;

let ofProcess: Registry | undefined;

/** Adds the memory, processor time, event loop delay and garbage collection of this process to a registry. */
export function addProcessMetrics(registry: Registry): void {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  for (const { name } of ofProcess.getMetricsAsArray()) {
    const metric = ofProcess.getSingleMetric(name);
    if (metric) registry.registerMetric(metric);
  }
}
