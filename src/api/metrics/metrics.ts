import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { BUILT_IN_HOOKS } from "../../shared/config/checks/mappings.ts";
import { withTimeout } from "../../shared/timeouts.ts";

/** Maximum time to read a metric from another server, so that one that hangs does not block all metrics. */
export const COLLECT_TIMEOUT_MS = 2_000;

/** Reads the queues' depths; rejects while Redis is away. */
export type ReadDepths = () => Promise<{ queue: string; state: string; count: number }[]>;

/** The metrics of this process, for GET /metrics. Counters start at zero with the process. */
export class Metrics {
  readonly registry = new Registry();
  readonly requestSeconds: Histogram<"method" | "route" | "status">;
  readonly reports: Counter<"status">;
  readonly jobs: Counter<"outcome">;
  readonly refused: Counter<"reason">;
  readonly hooks: Counter<"hook">;

  constructor(
    readDepths?: ReadDepths,
    countWaiting?: () => Promise<number>,
    countStreams?: () => number,
    countConnections?: () => Promise<number>,
  ) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.requestSeconds = new Histogram({
      name: "signalbox_http_request_duration_seconds",
      help: "Duration of HTTP requests in seconds, from the headers of the request to the end of the response. Streams are left out.",
      labelNames: ["method", "route", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.reports = new Counter({
      name: "signalbox_reports_total",
      help: "Step reports that were stored, by the status of the step after the report.",
      labelNames: ["status"],
      registers,
    });
    this.jobs = new Counter({
      name: "signalbox_jobs_total",
      help: "Jobs that were created, completed or failed.",
      labelNames: ["outcome"],
      registers,
    });
    this.refused = new Counter({
      name: "signalbox_refused_requests_total",
      help: "Requests that were refused with a 4xx status, by error code.",
      labelNames: ["reason"],
      registers,
    });
    this.hooks = new Counter({
      name: "signalbox_hooks_accepted_total",
      help: "Hook requests that were accepted, by hook.",
      labelNames: ["hook"],
      registers,
    });
    if (readDepths) this.#queueDepths(readDepths);
    if (countWaiting) this.#eventsWaiting(countWaiting);
    if (countStreams) this.#eventStreams(countStreams);
    if (countConnections) this.#connections(countConnections);
  }

  #connections(countConnections: () => Promise<number>): void {
    new Gauge({
      name: "signalbox_http_connections",
      help: "Open client connections of the web processes.",
      registers: [this.registry],
      async collect() {
        this.set(await countConnections());
      },
    });
  }

  #eventStreams(countStreams: () => number): void {
    new Gauge({
      name: "signalbox_event_streams",
      help: "Open streams of server-sent events.",
      registers: [this.registry],
      collect() {
        this.set(countStreams());
      },
    });
  }

  #eventsWaiting(countWaiting: () => Promise<number>): void {
    new Gauge({
      name: "signalbox_events_waiting",
      help: "Events that wait for the main session. Absent while MongoDB cannot be reached.",
      registers: [this.registry],
      aggregator: "first",
      async collect() {
        this.remove();
        await withTimeout(countWaiting(), COLLECT_TIMEOUT_MS).then(
          (count) => this.set(count),
          () => {},
        );
      },
    });
  }

  #queueDepths(readDepths: ReadDepths): void {
    new Gauge({
      name: "signalbox_queue_jobs",
      help: "Entries in each queue, by state; those with a priority count as `prioritized` and as `waiting`. Absent while Redis cannot be reached.",
      labelNames: ["queue", "state"],
      registers: [this.registry],
      aggregator: "first",
      async collect() {
        this.reset();
        for (const { queue, state, count } of await readDepths().catch(() => [])) this.set({ queue, state }, count);
      },
    });
  }
}

const ACCEPTED = /^signalbox_hooks_accepted_total\{hook="((?:[^"\\]|\\.)*)"\} (\S+)$/;

/**
 * Replaces the counters of all mappings by their sum, for readers without a token: the names of mappings are secret, and the
 * hooks' 401 does not reveal them either.
 * @param text metrics in Prometheus' text format
 */
export function withoutMappingNames(text: string): string {
  let sum: number | undefined;
  let position = 0;
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const [, hook, value] = ACCEPTED.exec(line) ?? [];
    if (hook === undefined || BUILT_IN_HOOKS.includes(hook)) {
      lines.push(line);
      continue;
    }
    if (sum === undefined) position = lines.length;
    sum = (sum ?? 0) + Number(value);
  }
  if (sum !== undefined) lines.splice(position, 0, `signalbox_hooks_accepted_total{hook="mapped"} ${sum}`);
  return lines.join("\n");
}
