import Type, { type Static } from "typebox";
import { sessionKeyFault } from "../shared/sessionKey.ts";
import { DURATION_PATTERN, durationMs } from "../shared/text/duration.ts";
import { IDENTIFIER_PATTERN } from "../shared/text/text.ts";
import { allTokens, type TokenList } from "./access/tokenList.ts";
import type { Agents } from "./agents/agents.ts";
import { GmailSchema, gmailFaults } from "./gmail.ts";
import { sharedSecretFaults } from "./mappings/auth.ts";
import { mappingFaults } from "./mappings/faults.ts";
import { MappingSchema, mappingKey, PRESETS } from "./mappings/mapping.ts";
import { type Check, type Frozen, section, text, tokens } from "./nodes.ts";
import { PROBES } from "./server.ts";

/** The value of `hooks.keepRequests`. */
export type KeepRequests = string | { readonly for: string; readonly maxBytes?: string };

const UNIT_BYTES = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const;
const SIZE = /^([1-9][0-9]{0,6})(KiB|MiB|GiB|TiB)$/;

/** Returns the limits of kept requests. The value must have no `keepRequestsFault`. */
export function keepLimits(value: KeepRequests): { readonly ms: number; readonly maxBytes: number | undefined } {
  if (typeof value === "string") return { ms: durationMs(value), maxBytes: undefined };
  const [, count, unit] = SIZE.exec(value.maxBytes ?? "") ?? [];
  const maxBytes = unit === undefined ? undefined : Number(count) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES];
  return { ms: durationMs(value.for), maxBytes };
}

/** Returns what is wrong with the value, beginning with the faulty key below it; null if it is usable. */
function keepRequestsFault(value: KeepRequests): string | null {
  if (typeof value === "string") return null;
  const unknown = Object.keys(value).find((key) => key !== "for" && key !== "maxBytes");
  if (unknown !== undefined) return `.${unknown} is not a known key; the keys are for and maxBytes`;
  if (!new RegExp(DURATION_PATTERN).test(value.for)) return ".for must look like 7d";
  return value.maxBytes === undefined || SIZE.test(value.maxBytes) ? null : ".maxBytes must look like 1GiB or 500MiB";
}

/** The section `hooks`. */
export const HooksSchema = section(
  {
    enabled: Type.Boolean({
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
    maxBodyBytes: Type.Integer({
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
    allowRequestSessionKey: Type.Boolean({
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
    shareSessions: Type.Boolean({
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
    maxWaitingRuns: Type.Integer({
      default: 10_000,
      minimum: 1,
      maximum: 1_000_000,
      description: "Maximum number of waiting runs of one mapping. Further requests are answered with 429.",
    }),
    compat: Type.Optional(
      Type.Enum(["openclaw"], {
        examples: ["openclaw"],
        description:
          "Accepts senders that were written for OpenClaw: the header `x-openclaw-token`, and `idempotencyKey`, `sessionMode` and `waitForCompletion` in the body. Hooks then answer 200 in place of 202.",
      }),
    ),
    keepRequests: Type.Optional(
      Type.Unsafe<KeepRequests>({
        type: ["string", "object"],
        pattern: DURATION_PATTERN,
        additionalProperties: { type: "string" }, // a check examines the object
        required: ["for"],
        examples: ["7d"],
        description:
          "How long requests to mapped hooks are kept, with their headers and bodies but without secrets; also `{ for, maxBytes }`. The newest 500 refused requests are kept without bodies. Without it nothing is kept, and what was kept before is deleted.",
      }),
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
    gmail: GmailSchema,
  },
  "The webhook gateway: other systems start agent runs or wake the main session.",
);

type Hooks = Frozen<Static<typeof HooksSchema>>;

/** The sections that the checks of `hooks` read. */
interface Sections {
  readonly hooks: Hooks;
  readonly agents: Agents;
  readonly server: { readonly apiToken?: TokenList; readonly readOnlyToken?: TokenList };
}

/** The paths that the service itself serves. */
const OWN_PATHS = [
  "/api",
  "/docs",
  "/guide",
  "/mcp",
  "/metrics",
  "/ping",
  ...PROBES,
  "/openapi.json",
  // the dashboard
  "/session",
  "/assets",
  "/jobs",
  "/runs",
  "/sessions",
  "/deliveries",
  "/channels",
  "/login",
  "/notify",
  "/answer",
  "/audit",
  "/budgets",
  "/gates",
  "/history",
  "/requests",
  "/settings",
];

export const hookChecks: readonly Check<Sections>[] = [
  {
    reads: ["hooks.path"],
    find: ({ hooks: { path } }) => {
      const own = OWN_PATHS.find((one) => path === one || path.startsWith(`${one}/`));
      return [own && `hooks.path must not begin with ${own}, where the service itself answers`];
    },
  },
  {
    reads: ["hooks.defaultSessionKey", "hooks.allowedSessionKeyPrefixes"],
    find: ({ hooks: { defaultSessionKey: key, allowedSessionKeyPrefixes: prefixes } }) => {
      const fault = key === undefined ? null : sessionKeyFault(key, prefixes);
      return [fault && `hooks.defaultSessionKey ${fault}`];
    },
  },
  {
    reads: ["hooks.mappings", "hooks.transformsDir", "hooks.allowedSessionKeyPrefixes", "agents"],
    find: ({ hooks: { mappings, transformsDir, allowedSessionKeyPrefixes: prefixes }, agents }) =>
      mappingFaults(mappings, { agents, transformsDir, prefixes }),
  },
  {
    reads: ["hooks.mappings", "hooks.token", "server.apiToken", "server.readOnlyToken"],
    find: ({ hooks: { mappings, token }, server: { apiToken, readOnlyToken } }) =>
      sharedSecretFaults(
        mappings.map((mapping) => ({ key: mappingKey(mapping), auth: mapping.auth })),
        [token, apiToken, readOnlyToken].flatMap(allTokens),
      ),
  },
  {
    reads: ["hooks.keepRequests"],
    find: ({ hooks: { keepRequests } }) => {
      const fault = keepRequests === undefined ? null : keepRequestsFault(keepRequests);
      return [fault && `hooks.keepRequests${fault}`];
    },
  },
  {
    reads: [
      "hooks.gmail",
      "hooks.mappings",
      "hooks.presets",
      "hooks.allowedSessionKeyPrefixes",
      "agents.defaults.models",
    ],
    find: ({ hooks, agents }) => gmailFaults(hooks, agents.defaults),
  },
];
