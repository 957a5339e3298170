import { Gauge, type Registry } from "prom-client";
import { version } from "./version.ts";

export const BUILD_INFO = "signalbox_build_info";

/** Adds the metric that shows which release runs on which version of Node. */
export function addBuildInfo(registry: Registry): void {
  new Gauge({
    name: BUILD_INFO,
    help: "Always 1. `version` is the release of Signalbox, `node` the version of Node.js.",
    labelNames: ["version", "node"],
    registers: [registry],
    aggregator: "first",
  }).set({ version, node: process.versions.node }, 1);
}
