import Type from "typebox";
import type { Config } from "../../config/config.ts";
import { mappingKey } from "../../config/mapping.ts";
import { preset } from "../../hooks/mappings/presets.ts";
import { endOfLife, version } from "../../shared/process/version.ts";
import * as s from "../../wire/blocks.ts";
import type { ApiDeps } from "../deps.ts";
import * as examples from "../examples/service.ts";
import { route } from "../route.ts";
import { Check, runProbes } from "./probes.ts";

const textOrNull = (description: string) => s.nullable(Type.String({ description }));

const ConfiguredMapping = Type.Object(
  {
    mapping: Type.String({ description: "Name of the mapping in runs, requests and the log." }),
    preset: textOrNull("The preset that filled in its keys, such as `github`; null without one."),
    action: Type.Enum(["agent", "wake"], {
      description: "`agent`: a request starts a run. `wake`: it adds an event for the main session.",
    }),
    address: textOrNull(
      "Address for the sender, beginning with `server.publicUrl`; only a path without that setting. Null if hooks are off, or if the mapping takes requests to any name.",
    ),
    source: textOrNull("The `source` that a body must have; null for any."),
    when: s.nullable(s.FreeObject("Conditions that a request must meet."), {
      description: "Conditions that a request must meet; null for none.",
    }),
    sessionKey: textOrNull("Template of the session of its runs; null for the default."),
  },
  s.named("ConfiguredMapping"),
);

const Settings = Type.Object(
  {
    versions: Type.Object(
      {
        signalbox: Type.String({ description: "Version of Signalbox." }),
        node: Type.String({ description: "Version of Node." }),
        mongodb: textOrNull("Version of MongoDB; null while it does not answer."),
        redis: textOrNull("Version of Redis; null while it does not answer."),
        warning: textOrNull("Why a version must be replaced; null if none must be."),
      },
      { ...s.named("Versions"), description: "Versions of the process that answers, and of its servers." },
    ),
    health: Type.Object(
      {
        checks: Type.Array(Check, { description: "The checks of `/readyz`." }),
        workers: s.nullable(
          s.Count("Number of connected worker processes; null if Redis does not answer or does not list its clients."),
        ),
      },
      { ...s.named("ServiceState"), description: "State of the servers and the workers." },
    ),
    mappings: Type.Array(ConfiguredMapping, { description: "The mappings in the order in which they are tried." }),
    rules: Type.Array(Type.String({ description: "Id of a rule." }), {
      description: "Ids of the rules of `notify`: see `GET /api/notify`.",
    }),
    config: s.FreeObject(
      "The configuration in force, in the keys of the configuration file. Secrets are replaced by `[redacted]`, and a text with an environment variable is shown as in the file.",
    ),
  },
  s.named("Settings"),
);

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
