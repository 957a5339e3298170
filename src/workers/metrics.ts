import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { TurnUsage } from "../agents/runners/turnUsage.ts";
import type { SendOutcome } from "../channels/channel.ts";
import { modelEntries } from "../config/agents/agent.ts";
import type { Config } from "../config/config.ts";
import type { ExpectedJob } from "../models/notifications/expectedJobs.ts";
import type { ErrorCode } from "../shared/errorCatalogue.ts";
import { addBuildInfo, BUILD_INFO } from "../shared/process/buildInfo.ts";
import { StartError } from "../shared/process/lifecycle.ts";
import { addProcessMetrics, COLLECT_TIMEOUT_MS } from "../shared/process/processMetrics.ts";
import { withTimeout } from "../shared/timeouts.ts";
import type { TurnOutcome } from "./runs/turn.ts";

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600];

const TOKEN_KINDS = [
  ["input", "inputTokens"],
  ["cached_input", "cachedInputTokens"],
  ["output", "outputTokens"],
  ["reasoning", "reasoningTokens"],
] as const;
/** The values of labels that have a series from the start. Others get theirs with the first event. */
const TURN_OUTCOMES = ["replied", "failed", "lost", "stopped"] satisfies TurnOutcome["kind"][];
const RUN_ERROR_CODES = ["agent_failed", "agent_unavailable", "timeout", "internal"] satisfies ErrorCode[];
const MAPPING_OUTCOMES = ["agent", "event", "job", "dropped", "failed"];
const SEND_RESULTS = [
  "sent",
  "rate-limited",
  "transient",
  "authentication",
  "gone",
  "content",
  "refused",
  "ambiguous",
] satisfies SendOutcome["kind"][];
const WEBHOOK_RESULTS = ["sent", "rate-limited", "transient", "gone", "refused"] as const;
/** How a webhook was received, in the terms of the channels. */
export type WebhookResult = (typeof WEBHOOK_RESULTS)[number];

type NotifyRule = Pick<Config["notify"][number], "id" | "on">;

/** The labels of a configuration's series, and the state that its workers share. */
interface Series {
  readonly channels: Iterable<string>;
  readonly rules: readonly NotifyRule[];
  /** Reads which channels are stopped. */
  readStopped(): Promise<ReadonlySet<string>>;
  /** Reads how the expectations are met; by default there are none. */
  readExpected?(): Promise<readonly ExpectedJob[]>;
}

/** The metrics of this worker process. */
export class WorkerMetrics {
  readonly registry = new Registry();
  readonly runs: Counter<"outcome" | "code">;
  readonly queuedSeconds: Histogram;
  readonly runSeconds: Histogram<"outcome">;
  readonly mapped: Counter<"outcome">;
  readonly heartbeats: Counter<"outcome">;
  readonly tokens: Counter<"kind" | "model">;
  readonly cost: Counter<"model">;
  readonly deliveries: Counter<"channel" | "outcome">;
  readonly deliveryAttempts: Counter<"channel" | "result">;
  readonly #channelStopped: Gauge<"channel">;
  readonly notifications: Counter<"rule" | "type">;
  readonly notificationsFailed: Counter<"type">;
  readonly returns: Counter<"outcome">;
  readonly otelSpans: Counter<"outcome">;
  #channels: readonly string[] = [];
  #readStopped: Series["readStopped"] = async () => new Set();
  #readExpected: NonNullable<Series["readExpected"]> = async () => [];

  constructor() {
    const registers = [this.registry];
    const counter = <Label extends string>(name: string, labelNames: Label[], help: string) =>
      new Counter({ name, help, labelNames, registers });
    addProcessMetrics(this.registry);
    addBuildInfo(this.registry);
    this.runs = counter(
      "signalbox_runs_total",
      ["outcome", "code"],
      "Attempts of agent runs by this worker, by outcome.",
    );
    this.queuedSeconds = new Histogram({
      name: "signalbox_run_queued_seconds",
      help: "Seconds from the acceptance of a run to its first attempt.",
      buckets: SECONDS,
      registers,
    });
    this.runSeconds = new Histogram({
      name: "signalbox_run_duration_seconds",
      help: "Duration of an attempt of a run in seconds.",
      labelNames: ["outcome"],
      buckets: SECONDS,
      registers,
    });
    this.mapped = counter(
      "signalbox_mapped_hooks_total",
      ["outcome"],
      "Requests of mapped hooks to which the mapping was applied, by outcome.",
    );
    this.heartbeats = counter("signalbox_heartbeat_turns_total", ["outcome"], "Turns of the main session, by outcome.");
    this.tokens = counter(
      "signalbox_agent_tokens_total",
      ["kind", "model"],
      "Tokens of agent turns as model servers and programs report them, with those of failed turns and of the main session. `input` includes `cached_input`, and `output` includes `reasoning`.",
    );
    this.cost = counter(
      "signalbox_agent_cost_usd_total",
      ["model"],
      "Cost of agent turns in US dollars, only as programs report it.",
    );
    this.deliveries = counter(
      "signalbox_deliveries_total",
      ["channel", "outcome"],
      "Deliveries that have ended, by channel and outcome.",
    );
    this.deliveryAttempts = counter(
      "signalbox_delivery_attempts_total",
      ["channel", "result"],
      "Messages that were sent to the service of a channel, by result.",
    );
    this.notifications = counter(
      "signalbox_notifications_total",
      ["rule", "type"],
      "Events for which a rule made a delivery, by rule and type of event. The rule of a callbackUrl is `callback`.",
    );
    this.notificationsFailed = counter(
      "signalbox_notifications_failed_total",
      ["type"],
      "Events that were set aside because their dispatch failed again and again, by type of event.",
    );
    this.returns = counter(
      "signalbox_returns_total",
      ["outcome"],
      "Transitions of jobs that wake a session: `started` a run, `gathered` in one that waits, or `dropped`, because the session no longer exists.",
    );
    for (const outcome of ["started", "gathered", "dropped"]) this.returns.inc({ outcome }, 0);
    this.otelSpans = counter(
      "signalbox_otel_spans_total",
      ["outcome"],
      "Spans of traces: `sent`, `failed`, because the receiver refused them, or `dropped`, because it took none for 15 minutes or too many waited.",
    );
    for (const outcome of ["sent", "failed", "dropped"]) this.otelSpans.inc({ outcome }, 0);
    this.#channelStopped = new Gauge({
      name: "signalbox_channel_stopped",
      help: "1 while a channel is stopped because its service refuses the credentials, else 0.",
      labelNames: ["channel"],
      registers,
      collect: () => this.#collectStopped(),
    });
    this.#addExpected();
    for (const outcome of TURN_OUTCOMES) {
      for (const code of outcome === "failed" ? RUN_ERROR_CODES : [""]) this.runs.inc({ outcome, code }, 0);
      this.runSeconds.zero({ outcome });
      this.heartbeats.inc({ outcome }, 0);
    }
    for (const outcome of MAPPING_OUTCOMES) this.mapped.inc({ outcome }, 0);
  }

  /**
   * Creates the series of a configuration's channels and rules with the value 0, so that the first event counts as an increase.
   * Values of an earlier configuration stay, except for channels that it no longer has.
   */
  addSeries({ channels, rules, readStopped, readExpected = async () => [] }: Series): void {
    this.#readExpected = readExpected;
    this.#channels = [...channels];
    this.#readStopped = readStopped;
    this.#channelStopped.reset();
    for (const channel of this.#channels) {
      this.#channelStopped.set({ channel }, 0);
      this.#addDeliveries(channel, SEND_RESULTS);
    }
    this.#addDeliveries("webhook", WEBHOOK_RESULTS);
    this.#addDeliveries("wake", []);
    for (const { id: rule, on } of rules) for (const type of on) this.notifications.inc({ rule, type }, 0);
  }

  /** Updates the gauge of stopped channels. While MongoDB is unavailable, it keeps its values. */
  async #collectStopped(): Promise<void> {
    const stopped = await withTimeout(this.#readStopped(), COLLECT_TIMEOUT_MS, "MongoDB").catch(() => undefined);
    if (!stopped) return;
    for (const channel of this.#channels) this.#channelStopped.set({ channel }, stopped.has(channel) ? 1 : 0);
  }

  /** Adds the gauges of expected jobs, which one read for each scrape sets. While MongoDB is unavailable, they keep their values. */
  #addExpected(): void {
    const gauge = (name: string, help: string) =>
      new Gauge({
        name: `signalbox_expected_job_${name}`,
        help,
        labelNames: ["expectation", "name"],
        registers: [this.registry],
        collect: () => read(),
      });
    const success = gauge(
      "last_success_timestamp_seconds",
      "When the newest job of an expectation that completed did so, in seconds since 1970. Absent without one.",
    );
    const took = gauge(
      "last_duration_seconds",
      "How long the newest job of an expectation that completed took in seconds, without waiting for gates.",
    );
    const up = gauge("up", "1 while no job of an expectation is missing, else 0.");
    const collect = async () => {
      const expected = await withTimeout(this.#readExpected(), COLLECT_TIMEOUT_MS, "MongoDB").catch(() => undefined);
      if (!expected) return;
      for (const one of [success, took, up]) one.reset();
      for (const { id: expectation, name, isUp, lastSuccess } of expected) {
        const labels = { expectation, name };
        up.set(labels, isUp ? 1 : 0);
        if (!lastSuccess) continue;
        success.set(labels, lastSuccess.at.getTime() / 1_000);
        took.set(labels, lastSuccess.durationMs / 1_000);
      }
    };
    let reading: Promise<void> | undefined;
    const read = () => {
      reading ??= collect().finally(() => {
        reading = undefined;
      });
      return reading;
    };
  }

  #addDeliveries(channel: string, results: readonly string[]): void {
    for (const outcome of ["sent", "failed"]) this.deliveries.inc({ channel, outcome }, 0);
    for (const result of results) this.deliveryAttempts.inc({ channel, result }, 0);
  }

  /** Returns the service's own metrics as text that can follow that of a web process: its other metrics are left out. */
  async ownText(): Promise<string> {
    const names = (this.registry.getMetricsAsArray() as unknown as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => name.startsWith("signalbox_") && name !== BUILD_INFO);
    const texts = await Promise.all(names.map((name) => this.registry.getSingleMetricAsString(name)));
    return `${texts.join("\n\n")}\n`;
  }

  /** Counts the usage of a turn. @param model one of few labels, not whatever a request names */
  countUsage(usage: TurnUsage, model: string): void {
    for (const [kind, member] of TOKEN_KINDS) {
      const tokens = usage[member];
      if (tokens !== undefined) this.tokens.inc({ kind, model }, tokens);
    }
    if (usage.costUsd !== undefined) this.cost.inc({ model }, usage.costUsd);
  }
}

/**
 * Serves a worker's metrics at /metrics, and /healthz.
 * @throws StartError when the port is taken
 */
export function serveMetrics(
  registry: Registry,
  { port, host }: { port: number; host: string },
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (req, res) => {
    if (req.url === "/metrics") res.setHeader("Content-Type", registry.contentType).end(await registry.metrics());
    else if (req.url === "/healthz") res.setHeader("Content-Type", "application/json").end('{"status":"ok"}\n');
    else res.writeHead(404).end();
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return new Promise((resolve, reject) => {
    server.once("error", ({ code }: NodeJS.ErrnoException) =>
      reject(
        new StartError(
          `Port ${port} on ${host} cannot be used for the worker's metrics (${code}): set worker.metricsPort to another.`,
        ),
      ),
    );
    server.listen(port, host, () => {
      const bound = server.address() as AddressInfo;
      resolve({ url: `http://${host.includes(":") ? `[${host}]` : host}:${bound.port}`, close });
    });
  });
}

/**
 * Returns the label of the model of a turn in metrics: the id of a configured model, `other` for one that only a request named,
 * and an empty label without a model. Requests thus cannot create labels.
 */
export function modelLabel(
  { models = [], model: defaultModel }: Pick<Config["agents"]["defaults"], "model" | "models">,
  model: string | undefined,
): string {
  if (model === undefined) return "";
  return model === defaultModel || modelEntries(models).some(({ id }) => id === model) ? model : "other";
}
