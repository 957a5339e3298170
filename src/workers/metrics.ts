import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { StartError } from "../shared/lifecycle.ts";

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600];

/** The metrics of this worker process. */
export class WorkerMetrics {
  readonly registry = new Registry();
  readonly runs: Counter<"outcome" | "code">;
  readonly queuedSeconds: Histogram;
  readonly runSeconds: Histogram<"outcome">;
  readonly mapped: Counter<"outcome">;
  readonly heartbeats: Counter<"outcome">;
  readonly deliveries: Counter<"channel" | "outcome">;
  readonly deliveryAttempts: Counter<"channel" | "result">;
  readonly channelStopped: Gauge<"channel">;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.runs = new Counter({
      name: "signalbox_runs_total",
      help: "Attempts of agent runs by this worker, by outcome.",
      labelNames: ["outcome", "code"],
      registers,
    });
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
    this.mapped = new Counter({
      name: "signalbox_mapped_hooks_total",
      help: "Requests of mapped hooks to which the mapping was applied, by outcome.",
      labelNames: ["outcome"],
      registers,
    });
    this.heartbeats = new Counter({
      name: "signalbox_heartbeat_turns_total",
      help: "Turns of the main session, by outcome.",
      labelNames: ["outcome"],
      registers,
    });
    this.deliveries = new Counter({
      name: "signalbox_deliveries_total",
      help: "Deliveries that have ended, by channel and outcome.",
      labelNames: ["channel", "outcome"],
      registers,
    });
    this.deliveryAttempts = new Counter({
      name: "signalbox_delivery_attempts_total",
      help: "Messages that were sent to the service of a channel, by result.",
      labelNames: ["channel", "result"],
      registers,
    });
    this.channelStopped = new Gauge({
      name: "signalbox_channel_stopped",
      help: "1 while a channel is stopped because its service refuses the credentials, else 0.",
      labelNames: ["channel"],
      registers,
    });
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
    else if (req.url === "/healthz") res.setHeader("Content-Type", "application/json").end('{"status":"ok"}');
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
