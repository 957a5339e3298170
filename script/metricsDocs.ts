import type { Registry } from "prom-client";
import { addDependencyMetrics } from "../src/api/metrics/dependencyMetrics.ts";
import { addGmailMetrics } from "../src/api/metrics/gmailMetrics.ts";
import { Metrics } from "../src/api/metrics/metrics.ts";
import { WorkerMetrics } from "../src/workers/metrics.ts";

/** The properties of a metric that prom-client keeps, beyond its static types. */
interface MetricFields {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** Generates docs/reference/metrics.md from the metrics that a web process and a worker process register. */
export function metricsDocs(): string {
  const web = new Metrics(
    async () => [],
    async () => 0,
    () => 0,
    async () => 0,
    () => Promise.reject(new Error("no jobs are counted for the documentation")),
  );
  addGmailMetrics(web.registry, async () => null, { now: () => new Date(0) });
  addDependencyMetrics(web.registry, []);
  return `# Metrics

<!-- Made by \`npm run docs\` from src/api/metrics and src/workers/metrics.ts. -->

\`\`\`sh
curl -s http://127.0.0.1:3000/metrics
\`\`\`

Metrics are in Prometheus' text format. [Monitor](../how-to/monitor.md) shows how to scrape them, which alerts to set, and a
dashboard for Grafana. Counters start at zero with their process, and have a series for each known value of their labels before
the first event, so that \`increase()\` counts it. Every process also has the \`process_*\` and \`nodejs_*\`
metrics of its memory, processor time and event loop.

## Web processes

A web process serves \`/metrics\` on the port of the API. With \`WEB_CONCURRENCY\` the metrics are those of all processes on the
machine together. The answer is 503 when one of them does not respond.

With \`npx signalbox start\` and without \`worker.metricsPort\`, \`/metrics\` of the web process also has the metrics of the
[worker](#worker-processes), except \`process_*\` and \`nodejs_*\`. They are absent while the worker does not respond.

\`signalbox_queue_jobs\` is absent while Redis cannot be reached. \`signalbox_jobs\`, \`signalbox_events_waiting\` and
\`signalbox_gmail_*\` are read from MongoDB and are absent while it cannot be reached. \`signalbox_jobs\` has the same numbers as
\`GET /api/stats\`; when counting is slow, the result is reused for ten times as long as it took.

With \`server.apiToken\` set, requests without a token see the accepted hooks of all mappings as one value, \`hook="mapped"\`, and
the notifications of all rules as \`rule="rule"\`. Requests with \`server.readOnlyToken\` as bearer token see each by its name.

${table(web.registry)}

## Worker processes

A worker process serves its own \`/metrics\` and \`/healthz\` on \`worker.metricsPort\`
([configuration](configuration.md#worker)). This port asks for no token.

${table(new WorkerMetrics().registry)}
`;
}

function table(registry: Registry): string {
  const metrics = registry.getMetricsAsArray() as unknown as MetricFields[];
  const rows = metrics
    .filter(({ name }) => name.startsWith("signalbox_"))
    .map(({ name, type, labelNames, help }) => {
      const labels = labelNames.map((label) => `\`${label}\``).join(", ");
      return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
    });
  return `| metric | type | labels | what it measures |\n|---|---|---|---|\n${rows.join("\n")}`;
}
