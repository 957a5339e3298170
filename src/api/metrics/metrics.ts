import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { BUILT_IN_HOOKS } from "../../shared/config/checks/mappings.ts";
import { withTimeout } from "../../shared/timeouts.ts";

/** How long a figure is waited for that another server knows: one that hangs shall not take all the others with it. */
export const FIGURE_WITHIN_MS = 2_000;

/** Reads the queues' depths; rejects while Redis is away. */
export type ReadDepths = () => Promise<{ queue: string; state: string; count: number }[]>;

/** What this process has counted, for GET /metrics. Counters only grow while the process lives. */
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
      help: "Time from a request's head to the end of its answer.",
      labelNames: ["method", "route", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.reports = new Counter({
      name: "signalbox_reports_total",
      help: "Reports of steps that took effect, by the status of the step after them.",
      labelNames: ["status"],
      registers,
    });
    this.jobs = new Counter({
      name: "signalbox_jobs_total",
      help: "Jobs created, completed and failed.",
      labelNames: ["outcome"],
      registers,
    });
    this.refused = new Counter({
      name: "signalbox_refused_requests_total",
      help: "Requests refused for what they are, by the code of the error.",
      labelNames: ["reason"],
      registers,
    });
    this.hooks = new Counter({
      name: "signalbox_hooks_accepted_total",
      help: "Hook requests written down and answered, by hook.",
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
      help: "Open connections of clients.",
      registers: [this.registry],
      async collect() {
        this.set(await countConnections());
      },
    });
  }

  #eventStreams(countStreams: () => number): void {
    new Gauge({
      name: "signalbox_event_streams",
      help: "Open streams of live events.",
      registers: [this.registry],
      collect() {
        this.set(countStreams());
      },
    });
  }

  #eventsWaiting(countWaiting: () => Promise<number>): void {
    new Gauge({
      name: "signalbox_events_waiting",
      help: "Events that wait for the main session; absent while MongoDB is away.",
      registers: [this.registry],
      aggregator: "first",
      async collect() {
        this.remove();
        await withTimeout(countWaiting(), FIGURE_WITHIN_MS).then(
          (count) => this.set(count),
          () => {},
        );
      },
    });
  }

  #queueDepths(readDepths: ReadDepths): void {
    new Gauge({
      name: "signalbox_queue_jobs",
      help: "Jobs in each queue by state; absent while Redis is away.",
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
 * Adds the figures of all mappings up, for readers without a token: they are not to learn which names there are, which the
 * hooks' 401 hides too.
 * @param text in Prometheus' text format
 */
export function withoutMappingNames(text: string): string {
  let sum: number | undefined;
  let place = 0;
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const [, hook, value] = ACCEPTED.exec(line) ?? [];
    if (hook === undefined || BUILT_IN_HOOKS.includes(hook)) {
      lines.push(line);
      continue;
    }
    if (sum === undefined) place = lines.length;
    sum = (sum ?? 0) + Number(value);
  }
  if (sum !== undefined) lines.splice(place, 0, `signalbox_hooks_accepted_total{hook="mapped"} ${sum}`);
  return lines.join("\n");
}
