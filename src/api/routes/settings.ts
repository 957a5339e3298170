import { endOfLife, version } from "../../shared/process/version.ts";
import { Settings } from "../../wire/settings.ts";
import * as examples from "../examples/service.ts";
import { configuredMappings } from "../inbox/configuredMappings.ts";
import { route } from "../routing/route.ts";
import { runProbes } from "./probes.ts";

const getSettings = route({
  method: "get",
  path: "/api/settings",
  operationId: "getSettings",
  scopes: ["admin"],
  tag: "operations",
  summary: "Get the settings",
  description:
    "Returns the configuration in force without secrets, the mappings with their addresses, the versions of the service and its servers, and their health. Nothing can be changed here: edit the configuration file, then run `signalbox reload`.",
  example: examples.getSettings,
  schemas: {},
  answers: { 200: Settings },
  errors: [],
  async handler(_input, deps) {
    const [{ mongodb, redis, workers }, checks] = await Promise.all([deps.readServers(), runProbes(deps)]);
    const warning = (mongodb !== null && endOfLife(mongodb)) || null;
    const config = deps.shownConfig as Record<string, unknown>;
    const versions = { signalbox: version, node: process.version.slice(1), mongodb, redis, warning };
    const mappings = configuredMappings(deps).map(({ hook: _, ...mapping }) => mapping);
    const rules = deps.notify.map(({ id }) => id);
    return {
      status: 200,
      body: { versions, health: { checks, workers }, mappings, rules, config },
    };
  },
});

export const settingsRoutes = [getSettings];
