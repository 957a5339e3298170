interface Metric {
  readonly type: string;
  /** The values by label; null for a label whose values are no fixed set. */
  readonly labels: Record<string, string[] | null>;
}

/** Labels whose values are fixed sets. `le` holds the buckets of a histogram. */
const FIXED_SETS = new Set(["queue", "state", "part", "lasting", "outcome", "result", "le"]);

/** The names of a histogram's samples besides the histogram's own. */
const OF_HISTOGRAM = /_(bucket|sum|count)$/;

/** Reads the service's own metrics from Prometheus' text format. Those of Node are left out: its version decides on them. */
export function parseMetrics(text: string): Record<string, Metric> {
  const metrics: Record<string, Metric> = {};
  for (const [, name = "", type = ""] of text.matchAll(/^# TYPE (signalbox_\w+) (\w+)$/gm)) {
    metrics[name] = { type, labels: {} };
  }
  for (const [, name = "", labels = ""] of text.matchAll(/^(signalbox_\w+)(?:\{(.*)\})? \S+$/gm)) {
    const metric = metrics[name] ?? metrics[name.replace(OF_HISTOGRAM, "")];
    if (!metric) throw new Error(`${name} has no type`);
    for (const [, label = "", value = ""] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      const values = new Set(metric.labels[label]).add(value);
      metric.labels[label] = FIXED_SETS.has(label) ? [...values].sort() : null;
    }
  }
  return metrics;
}
