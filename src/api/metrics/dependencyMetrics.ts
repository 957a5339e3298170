import { Gauge, type Registry } from "prom-client";
import type { Probe } from "../deps.ts";
import { runProbe } from "../routes/probes.ts";

/** Adds the metric of the servers that this process needs. */
export function addDependencyMetrics(registry: Registry, probes: readonly Probe[]): void {
  new Gauge({
    name: "signalbox_dependency_up",
    help: "1 while MongoDB or Redis answers this process, else 0. Without Redis reports and hooks are accepted, and runs wait.",
    labelNames: ["dependency"],
    registers: [registry],
    aggregator: "min",
    async collect() {
      for (const { name, ok } of await Promise.all(probes.map(runProbe))) this.set({ dependency: name }, Number(ok));
    },
  });
}
