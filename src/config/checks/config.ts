import { isLoopback } from "../../shared/address.ts";
import { namesSeveralHosts, readClusterUrl, serverUrlFault } from "../../shared/queue/redisAddress.ts";
import { durationMs } from "../formats/duration.ts";
import { keepRequestsFault } from "../formats/keepRequests.ts";
import { modelEntries, resolveModel } from "../formats/modelList.ts";
import { recipientFault } from "../formats/recipient.ts";
import { sessionKeyFault } from "../formats/sessionKey.ts";
import type { Config } from "../schema/config.ts";
import { gmailFaults } from "./gmail.ts";
import { idleOptions } from "./idleOptions.ts";
import { mappingFaults } from "./mappings.ts";
import { notifyFaults, outboundFaults, publicUrlFaults } from "./notify.ts";
import { sharedSecretFaults } from "./secrets.ts";
import { headerFaults, secretTextFaults } from "./secretTexts.ts";
import { scopedTokenFaults, tokenFaults } from "./tokens.ts";

interface Check {
  /** The keys that it reads. It runs only when the schema finds no fault in them. */
  readonly reads: readonly string[];
  /** Returns a sentence for each fault. */
  find(config: Config): readonly (string | false | undefined)[];
}

/** The paths that health checks request; they also answer outside of `server.basePath`. */
export const PROBES: readonly string[] = ["/healthz", "/readyz"];

/** The paths that the service itself serves. */
const OWN_PATHS = [
  "/api",
  "/docs",
  "/guide",
  "/mcp",
  "/metrics",
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
  "/gates",
  "/history",
  "/requests",
  "/settings",
];

const CHECKS: readonly Check[] = [
  {
    reads: ["server.host", "server.apiToken", "server.allowUnauthenticated"],
    find: ({ server: { host, apiToken, allowUnauthenticated } }) => [
      !isLoopback(host) &&
        !apiToken &&
        !allowUnauthenticated &&
        `server.host is ${host}, which other machines can reach, and server.apiToken is not set: set a token, listen on 127.0.0.1, or set server.allowUnauthenticated to true`,
    ],
  },
  {
    reads: ["redis.url", "redis.cluster"],
    find: ({ redis: { url, cluster } }) => [redisFault(url, cluster)],
  },
  { reads: ["hooks.enabled", "hooks.token", "server.apiToken", "server.readOnlyToken"], find: tokenFaults },
  {
    reads: ["server.tokens", "server.apiToken", "server.readOnlyToken", "hooks.token", "hooks.mappings"],
    find: scopedTokenFaults,
  },
  {
    reads: ["server.basePath"],
    find: ({ server: { basePath } }) => {
      const probe = PROBES.find((path) => basePath === path || basePath?.startsWith(`${path}/`));
      return [probe && `server.basePath must not begin with ${probe}, which also answers outside of the base path`];
    },
  },
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
      return [fault !== null && `hooks.defaultSessionKey ${fault}`];
    },
  },
  {
    reads: ["session.main"],
    find: ({ session: { main } }) => {
      const fault = main && recipientFault(main.channel, main.to);
      return [fault && `session.main.to ${fault}`];
    },
  },
  {
    reads: ["agents.defaults.runner", "agents.defaults.model"],
    find: ({ agents: { defaults } }) => [
      defaults.runner === "openai" &&
        !defaults.model &&
        "agents.defaults.runner is openai and agents.defaults.model is not set: set the model",
    ],
  },
  {
    reads: ["agents.defaults.runner", "agents.runners.command"],
    find: ({ agents: { defaults, runners } }) => [
      defaults.runner === "command" &&
        !runners.command &&
        "agents.defaults.runner is command and agents.runners.command.command is not set: set the program to start",
    ],
  },
  {
    reads: ["agents.runners.openai.baseUrl"],
    find: ({ agents: { runners } }) => {
      const baseUrl = runners.openai?.baseUrl;
      const url = URL.parse(baseUrl ?? "");
      return [
        baseUrl !== undefined &&
          (!url || url.username + url.password !== "" || /[?#]/.test(baseUrl)) &&
          "agents.runners.openai.baseUrl must be an address without user, password, query and fragment: paths of the API are added to it; keys go in agents.runners.openai.apiKey or headers",
      ];
    },
  },
  {
    reads: ["agents.defaults.model", "agents.defaults.models"],
    find: ({ agents: { defaults } }) => {
      const resolved = resolveModel(defaults, undefined);
      return [
        !resolved.ok &&
          `agents.defaults.model is ${defaults.model}, which agents.defaults.models does not list (${resolved.allowed.join(", ")})`,
      ];
    },
  },
  {
    reads: ["agents.defaults.models"],
    find: ({ agents: { defaults } }) => {
      const names = modelEntries(defaults.models ?? []).flatMap(({ id, alias }) =>
        alias === undefined || alias === id ? [id] : [id, alias],
      );
      const twice = new Set(names.filter((name, i) => names.indexOf(name) !== i));
      return [...twice].map(
        (name) => `agents.defaults.models uses ${name} for two models: give each its own id or alias`,
      );
    },
  },
  {
    reads: ["retention.runsAfter", "session.retainSingleUse"],
    find: ({ retention: { runsAfter }, session: { retainSingleUse } }) => [
      runsAfter !== undefined &&
        durationMs(runsAfter) < Math.max(durationMs(retainSingleUse), durationMs("1d")) &&
        `retention.runsAfter must be at least 1d and at least session.retainSingleUse (${retainSingleUse}), because a run must be kept at least as long as its transcript`,
    ],
  },
  {
    reads: ["channels"],
    find: ({ channels }) =>
      Object.entries(channels).flatMap(([name, settings]) =>
        (["apiUrl", "loginUrl", "baseUrl"] as const).flatMap((key) => {
          const address = (settings as Record<string, unknown> | undefined)?.[key];
          return typeof address === "string" ? [addressFault(address, name, key)] : [];
        }),
      ),
  },
  { reads: ["channels"], find: ({ channels }) => [credentialFault(channels)] },
  {
    reads: ["hooks.mappings", "hooks.transformsDir", "hooks.allowedSessionKeyPrefixes", "agents.defaults.models"],
    find: mappingFaults,
  },
  {
    reads: ["hooks.mappings", "hooks.token", "server.apiToken", "server.readOnlyToken"],
    find: sharedSecretFaults,
  },
  {
    reads: ["hooks.keepRequests"],
    find: ({ hooks: { keepRequests } }) => {
      const fault = keepRequests === undefined ? null : keepRequestsFault(keepRequests);
      return [fault !== null && `hooks.keepRequests${fault}`];
    },
  },
  { reads: ["agents.runners", "channels.imessage"], find: idleOptions },
  { reads: ["agents.runners", "channels"], find: secretTextFaults },
  { reads: ["agents.runners"], find: headerFaults },
  { reads: ["server.publicUrl", "server.basePath"], find: publicUrlFaults },
  { reads: ["notify", "expect", "channels"], find: notifyFaults },
  { reads: ["outbound"], find: outboundFaults },
  {
    reads: [
      "hooks.gmail",
      "hooks.mappings",
      "hooks.presets",
      "hooks.allowedSessionKeyPrefixes",
      "agents.defaults.models",
    ],
    find: gmailFaults,
  },
];

function redisFault(url: string | undefined, cluster: boolean): string | false {
  if (!cluster) {
    if (url === undefined) return false;
    if (namesSeveralHosts(url)) {
      return "redis.url names several hosts and redis.cluster is not true: set it, or REDIS_CLUSTER=true, for a Redis Cluster";
    }
    const fault = serverUrlFault(url);
    return fault !== null && `redis.url ${fault}`;
  }
  if (url === undefined)
    return "redis.cluster is true and redis.url is not set: set it, or REDIS_URL, to the nodes of the cluster";
  const address = readClusterUrl(url);
  return "fault" in address && `redis.url ${address.fault}`;
}

/** The channels whose requests use the header that would carry an address's user and password. */
const WITH_AUTHORIZATION = ["slack", "discord", "mattermost", "msteams", "whatsapp"];

function addressFault(address: string, channel: string, key: string): string | false {
  const url = URL.parse(address);
  if (!url) return `channels.${channel}.${key} is not a valid URL`;
  return (
    url.username + url.password !== "" &&
    WITH_AUTHORIZATION.includes(channel) &&
    `channels.${channel}.${key} must have no user and password: its requests carry the channel's own credentials in their place`
  );
}

/** Returns a sentence about credentials of a channel that do not fit together. */
function credentialFault({ email, ntfy }: Config["channels"]): string | false {
  if (email && (email.username === undefined) !== (email.password === undefined)) {
    const [given, missing] = email.username === undefined ? ["password", "username"] : ["username", "password"];
    return `channels.email has a ${given} and no ${missing}: set both, or neither for a server without a log-in`;
  }
  const { username, password } = URL.parse(ntfy?.baseUrl ?? "") ?? { username: "", password: "" };
  return (
    ntfy?.token !== undefined &&
    username + password !== "" &&
    "channels.ntfy has a token, so its baseUrl must have no user and password: remove one of them"
  );
}

/**
 * Returns a sentence for each fault in the combination of keys that are valid by themselves.
 * @param faulty the keys that are invalid by themselves; checks that read one of them are skipped
 */
export function crossChecks(config: Config, faulty: readonly string[]): string[] {
  const isValid = (key: string) => !faulty.some((fault) => isWithin(fault, key) || isWithin(key, fault));
  return CHECKS.filter(({ reads }) => reads.every(isValid)).flatMap((check) =>
    check.find(config).filter((problem) => typeof problem === "string"),
  );
}

const isWithin = (key: string, section: string): boolean => key === section || key.startsWith(`${section}.`);
