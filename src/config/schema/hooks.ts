import Type from "typebox";
import { IDENTIFIER_PATTERN } from "../../shared/text/text.ts";
import { boolean, integer, keepRequests, section, text, tokens } from "../nodes.ts";
import { GmailSchema } from "./gmail.ts";
import { MappingSchema, PRESETS } from "./mapping.ts";

/** The section `hooks`. */
export const HooksSchema = section(
  {
    enabled: boolean({
      default: false,
      env: "SIGNALBOX_HOOKS_ENABLED",
      description: "Turns the webhook gateway on. If it is off, every URL under `hooks.path` answers 404.",
    }),
    token: Type.Optional(
      tokens({
        env: "SIGNALBOX_HOOKS_TOKEN",
        description:
          "Token with which senders call the hooks, as `Authorization: Bearer <token>`. Required with `hooks.enabled`. At least 16 characters, and different from `server.apiToken`. A list of tokens makes all of them valid.",
      }),
    ),
    path: text({
      default: "/hooks",
      pattern: "^(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)+$",
      examples: ["/hooks"],
      description:
        "Path under which the hooks are served. It must not be `/` or a path of the service itself, such as `/api`.",
    }),
    maxBodyBytes: integer({
      default: 256 * 1024,
      minimum: 1024,
      maximum: 8 * 1024 * 1024,
      description: "Maximum size of the body of a hook request in bytes. A mapping can set its own.",
    }),
    defaultSessionKey: Type.Optional(
      text({
        maxLength: 256,
        pattern: IDENTIFIER_PATTERN,
        examples: ["hook:inbox"],
        description:
          "Session of requests that name no session; they share one conversation. Without it each request has its own conversation.",
      }),
    ),
    allowRequestSessionKey: boolean({
      default: true,
      description: "Whether a request to `/hooks/agent` may choose its session with `sessionKey`.",
    }),
    allowedSessionKeyPrefixes: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        examples: [["hook:"]],
        description: "Prefixes of which every chosen session key must have one. Without it any key is allowed.",
      }),
    ),
    shareSessions: boolean({
      default: false,
      description:
        "Whether all hooks may use the same sessions. If it is off, a session belongs to the first hook that uses it: `/hooks/agent` or one mapping.",
    }),
    maxTimeoutSeconds: Type.Number({
      default: 3_600,
      exclusiveMinimum: 0,
      maximum: 86_400,
      description: "Maximum `timeoutSeconds` that a request or a transform may set, in seconds.",
    }),
    maxWaitingRuns: integer({
      default: 10_000,
      minimum: 1,
      maximum: 1_000_000,
      description: "Maximum number of waiting runs of one mapping. Further requests are answered with 429.",
    }),
    keepRequests: Type.Optional(
      keepRequests(
        "How long requests to mapped hooks are kept, with their headers and bodies but without secrets; also `{ for, maxBytes }`. The newest 500 refused requests are kept without bodies. Without it nothing is kept, and what was kept before is deleted.",
      ),
    ),
    presets: Type.Array(Type.Enum(PRESETS), {
      default: [],
      examples: [["gmail"]],
      description:
        "Built-in mappings, which are tried after `hooks.mappings`. `gmail` handles the mails of `hooks.gmail`.",
    }),
    mappings: Type.Array(MappingSchema, {
      default: [],
      examples: [[{ match: { path: "ci" }, messageTemplate: "{{title}}" }]],
      description: "Hooks with names of your own. The first entry that matches handles the request.",
    }),
    transformsDir: Type.Optional(
      text({
        examples: ["hooks/transforms"],
        description:
          "Directory of the transform modules, relative to the directory of the configuration file. The default is `hooks/transforms`.",
      }),
    ),
    transformTimeoutSeconds: Type.Number({
      default: 10,
      exclusiveMinimum: 0,
      maximum: 600,
      description: "Time limit of a transform in seconds. A transform that takes longer is stopped, and its run fails.",
    }),
    transformMemoryMiB: integer({
      default: 128,
      minimum: 16,
      maximum: 4_096,
      description: "Memory limit of a transform in MiB. A transform that uses more is stopped, and its run fails.",
    }),
    gmail: GmailSchema,
  },
  "The webhook gateway: other systems start agent runs or wake the main session.",
);
