import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { BUILT_IN_HOOKS } from "../../config/mappings/mapping.ts";
import type { Status } from "../../models/jobs/job.ts";
import type { PingResult } from "../../models/jobs/pings/pingJob.ts";
import { ERRORS } from "../../shared/errorCatalogue.ts";
import { addBuildInfo } from "../../shared/process/buildInfo.ts";
import { addProcessMetrics, COLLECT_TIMEOUT_MS } from "../../shared/process/processMetrics.ts";
import { withTimeout } from "../../shared/timeouts.ts";
import type { Stats } from "../../wire/stats.ts";

const JOB_STATES = ["running", "completed", "failed", "stale"] as const;

/** Reads the queues' depths; rejects while Redis is unavailable. */
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
    countJobs?: () => Promise<Stats>,
  ) {
    const registers = [this.registry];
    const counter = <Label extends string>(name: string, labelNames: Label[], help: string) =>
      new Counter({ name, help, labelNames, registers });
    addProcessMetrics(this.registry);
    addBuildInfo(this.registry);
    this.requestSeconds = new Histogram({
      name: "signalbox_http_request_duration_seconds",
      help: "Duration of HTTP requests in seconds, from the headers of the request to the end of the response. Streams and requests that wait are left out.",
      labelNames: ["method", "route", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.reports = counter(
      "signalbox_reports_total",
      ["status"],
      "Step reports that were stored, by the status of the step after the report.",
    );
    this.jobs = counter("signalbox_jobs_total", ["outcome"], "Jobs that were created, completed or failed.");
    this.refused = counter(
      "signalbox_refused_requests_total",
      ["reason"],
      "Requests that were refused with a 4xx status, by error code.",
    );
    this.hooks = counter("signalbox_hooks_accepted_total", ["hook"], "Hook requests that were accepted, by hook.");
    if (readDepths) this.#queueDepths(readDepths);
    if (countWaiting) this.#eventsWaiting(countWaiting);
    if (countStreams) this.#eventStreams(countStreams);
    if (countConnections) this.#connections(countConnections);
    if (countJobs) this.#jobStates(countJobs);
    for (const outcome of ["created", "completed", "failed"]) this.jobs.inc({ outcome }, 0);
    for (const status of ["running", "completed", "failed"]) this.reports.inc({ status }, 0);
    for (const [reason, { status }] of Object.entries(ERRORS)) if (status < 500) this.refused.inc({ reason }, 0);
  }

  /** Creates the series of hooks with the value 0, so that the first request counts as an increase. */
  addHooks(names: Iterable<string>): void {
    for (const hook of names) this.hooks.inc({ hook }, 0);
  }

  #jobStates(countJobs: () => Promise<Stats>): void {
    new Gauge({
      name: "signalbox_jobs",
      help: "Jobs by state. Stale jobs count as `running` and as `stale`. Absent while MongoDB cannot be reached.",
      labelNames: ["state"],
      registers: [this.registry],
      aggregator: "first",
      async collect() {
        const counting = countJobs().then(
          ({ jobs }) => {
            for (const state of JOB_STATES) this.set({ state }, jobs[state]);
          },
          () => this.reset(),
        );
        // A count that takes longer is shown by the next scrape; until then the values of the last one stay.
        await withTimeout(counting, COLLECT_TIMEOUT_MS).catch(() => {});
      },
    });
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

  /** Counts a write of a job: its creation, and its end. */
  countJob({ created, ended }: { readonly created: boolean; readonly ended: Status | null }): void {
    if (created) this.jobs.inc({ outcome: "created" });
    if (ended) this.jobs.inc({ outcome: ended });
  }

  /** Counts a ping, which may create and end its job. */
  countPing({ createdJob, step, ended }: Pick<PingResult, "createdJob" | "step" | "ended">): void {
    this.countJob({ created: createdJob, ended });
    this.reports.inc({ status: step.status });
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

const ACCEPTED = /^(signalbox_hooks_accepted_total\{hook=")((?:[^"\\]|\\.)*)("\}) (\S+)$/;
const NOTIFIED = /^(signalbox_notifications_total\{rule=")((?:[^"\\]|\\.)*)(",type="[^"]*"\}) (\S+)$/;

/** The rule of notifications to a `callbackUrl`, which no configuration names. */
const CALLBACK = "callback";

/**
 * Replaces the counters of all mappings by their sum, and those of all rules of `notify`, and leaves out expected jobs, for readers
 * without a token: the names of mappings are secret, and the hooks' 401 does not reveal them either.
 * @param text metrics in Prometheus' text format
 */
export function withoutConfiguredNames(text: string): string {
  const lines: string[] = [];
  const sums = new Map<string, { at: number; sum: number }>();
  const add = (series: string, value: string) => {
    const { at, sum } = sums.get(series) ?? { at: lines.length, sum: 0 };
    sums.set(series, { at, sum: sum + Number(value) });
    lines[at] = `${series} ${sum + Number(value)}`;
  };
  for (const line of text.split("\n")) {
    const [, hookStart, hook = "", hookEnd, accepted = ""] = ACCEPTED.exec(line) ?? [];
    const [, ruleStart, rule, ruleEnd, notified = ""] = NOTIFIED.exec(line) ?? [];
    if (hookStart && !BUILT_IN_HOOKS.includes(hook)) add(`${hookStart}mapped${hookEnd}`, accepted);
    else if (ruleStart && rule !== CALLBACK) add(`${ruleStart}rule${ruleEnd}`, notified);
    else if (!line.startsWith("signalbox_expected_job_")) lines.push(line);
  }
  return lines.join("\n");
}
