import type { Config } from "../../config/config.ts";
import { mappingKey } from "../../config/mappings/mapping.ts";
import { preset } from "../../hooks/mappings/presets.ts";
import { endOfLife, version } from "../../shared/process/version.ts";
import { Settings } from "../../wire/settings.ts";
import type { ApiDeps } from "../deps.ts";
import * as examples from "../examples/service.ts";
import { route } from "../route.ts";
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
    const rules = deps.notify.map(({ id }) => id);
    return {
      status: 200,
      body: { versions, health: { checks, workers }, mappings: shownMappings(deps), rules, config },
    };
  },
});

type MappingConfig = Config["hooks"]["mappings"][number];

/** Returns the mappings as the configuration shows them, so that a secret in a variable stays hidden. */
function shownMappings({ hooks, shownConfig, hooksUrl }: ApiDeps) {
  const own = (shownConfig as { hooks: { mappings: readonly MappingConfig[] } }).hooks.mappings;
  const builtIn = hooks.presets.map((name) => ({ ...preset(name, hooks), preset: name }));
  return [...own, ...builtIn].map((mapping) => ({
    mapping: mappingKey(mapping as MappingConfig),
    preset: mapping.preset ?? null,
    action: mapping.action,
    address: hooks.enabled && mapping.match?.path !== undefined ? `${hooksUrl}/${mapping.match.path}` : null,
    source: mapping.match?.source ?? null,
    when: mapping.match?.when ?? null,
    sessionKey: mapping.sessionKey ?? null,
  }));
}

export const settingsRoutes = [getSettings];
