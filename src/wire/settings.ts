import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";

export const ReadinessCheck = Type.Object(
  {
    name: Type.String({ description: "The checked part: `mongodb`, `redis` or `process`." }),
    ok: Type.Boolean({ description: "Whether the check succeeds." }),
  },
  s.named("ReadinessCheck"),
);

const textOrNull = (description: string) => s.nullable(Type.String({ description }));

/** A mapping of the configuration. */
export const ConfiguredMapping = Type.Object(
  {
    mapping: Type.String({ description: "Name of the mapping in runs, requests and the log." }),
    preset: textOrNull("The preset that filled in its keys, such as `github`; null without one."),
    action: Type.Enum(["agent", "wake", "job"], {
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
export type ConfiguredMapping = Static<typeof ConfiguredMapping>;

/** The settings of the service. */
export const Settings = Type.Object(
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
        checks: Type.Array(ReadinessCheck, { description: "The checks of `/readyz`." }),
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
export type Settings = Static<typeof Settings>;
