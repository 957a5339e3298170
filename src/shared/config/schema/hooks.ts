import Type from "typebox";
import { IDENTIFIER_PATTERN } from "../../text.ts";
import { boolean, integer, section, text, token } from "../nodes.ts";
import { GmailSchema } from "./gmail.ts";
import { MappingSchema, PRESETS } from "./mapping.ts";

/** The section `hooks`. */
export const HooksSchema = section(
  {
    enabled: boolean({
      default: false,
      env: "SIGNALBOX_HOOKS_ENABLED",
      description: "Opens the hooks. Off, every path under `hooks.path` is 404.",
    }),
    token: Type.Optional(
      token({
        env: "SIGNALBOX_HOOKS_TOKEN",
        description:
          "Senders give it as `Authorization: Bearer …`. At least 16 characters, needed with `hooks.enabled`, and another one than `server.apiToken`.",
      }),
    ),
    path: text({
      default: "/hooks",
      pattern: "^(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)+$",
      examples: ["/hooks"],
      description: "What the hooks' paths begin with. Not `/`, and not what the service itself answers under.",
    }),
    maxBodyBytes: integer({
      default: 256 * 1024,
      minimum: 1024,
      maximum: 8 * 1024 * 1024,
      description: "Largest body of a hook in bytes.",
    }),
    defaultSessionKey: Type.Optional(
      text({
        maxLength: 256,
        pattern: IDENTIFIER_PATTERN,
        examples: ["hook:inbox"],
        description:
          "The session of requests that name none, which then share one conversation. Without it each has its own.",
      }),
    ),
    allowRequestSessionKey: boolean({
      default: true,
      description: "Whether a request may name its session (`sessionKey`).",
    }),
    allowedSessionKeyPrefixes: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        examples: [["hook:"]],
        description: "A session key that is named must begin with one of these. Without it any will do.",
      }),
    ),
    shareSessions: boolean({
      default: false,
      description:
        "Whether every hook may name every session. Off, a session belongs to the hook that named it first: `/hooks/agent`, or one mapping.",
    }),
    maxTimeoutSeconds: Type.Number({
      default: 3_600,
      exclusiveMinimum: 0,
      maximum: 86_400,
      description: "The longest `timeoutSeconds` that a request or a transform may ask for.",
    }),
    maxWaitingRuns: integer({
      default: 10_000,
      minimum: 1,
      maximum: 1_000_000,
      description: "How many runs of one mapping may wait. A request that would make more is answered 429.",
    }),
    presets: Type.Array(Type.Enum(PRESETS), {
      default: [],
      examples: [["gmail"]],
      description: "Built-in mappings, which come after your own.",
    }),
    mappings: Type.Array(MappingSchema, {
      default: [],
      examples: [[{ match: { path: "ci" }, messageTemplate: "{{title}}" }]],
      description:
        "Hooks of names of your own; the first that matches takes the request. The keys of an entry are below.",
    }),
    transformsDir: Type.Optional(
      text({
        examples: ["hooks/transforms"],
        description:
          "Where transform modules are, from the configuration file's directory; `hooks/transforms` by default.",
      }),
    ),
    transformTimeoutSeconds: Type.Number({
      default: 10,
      exclusiveMinimum: 0,
      maximum: 600,
      description: "How long a transform may take before it is ended and its run fails.",
    }),
    transformMemoryMiB: integer({
      default: 128,
      minimum: 16,
      maximum: 4_096,
      description: "How much memory a transform may take before it is ended and its run fails.",
    }),
    gmail: GmailSchema,
  },
  "The webhook gateway: outside systems wake the agent or have it do something.",
);
