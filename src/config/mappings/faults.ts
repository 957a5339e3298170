import { resolveModel } from "../agents/agent.ts";
import { type Agents, agentFault, agentSettings } from "../agents/agents.ts";
import { authFaults } from "./auth.ts";
import { jobFaults } from "./job.ts";
import { BUILT_IN_HOOKS, decodedName, jobPrefixOf, type Mapping, mappingKey } from "./mapping.ts";
import { conditionFaults } from "./match.ts";
import { recipientFaultOf, sessionKeyFaults, templateFaults } from "./templates.ts";
import { resolveTransform } from "./transformPath.ts";

/** The keys outside a mapping that limit its values. */
interface Surroundings {
  readonly agents: Agents;
  readonly transformsDir: string | undefined;
  /** The value of `hooks.allowedSessionKeyPrefixes`. */
  readonly prefixes: readonly string[] | undefined;
}

/** Returns a sentence, beginning with the key, for each fault in the mappings that the schema does not find. */
export function mappingFaults(mappings: readonly Mapping[], surroundings: Surroundings): string[] {
  const names = mappings.map(mappingKey);
  return mappings.flatMap((mapping, i) => {
    const key = `hooks.mappings.${i}`;
    const name = names[i] as string;
    const twin = names.indexOf(name);
    return [
      ...templateFaults(mapping),
      mapping.match?.path !== undefined && pathFault(mapping.match.path),
      name.startsWith("preset:") && `id must not be ${name}: names that begin with preset: belong to the presets`,
      twin < i &&
        (mapping.id === undefined
          ? `id is missing: without it, this mapping and hooks.mappings.${twin} have the same name, ${name}`
          : `id is used twice: hooks.mappings.${twin} has the name ${name} too`),
      recipientFaultOf(mapping),
      agentOfMappingFault(mapping, surroundings),
      modelFault(mapping, surroundings),
      transformFault(mapping, surroundings),
      ...sessionKeyFaults(mapping.sessionKey, surroundings.prefixes),
      ...(mapping.auth ? authFaults(mapping.auth, mapping.match?.path) : []),
      ...conditionFaults(mapping.match?.when, mapping.forEach),
      ...handshakeFaults(mapping),
      ...(mapping.job ? jobFaults(mapping.job) : []),
      mapping.action === "job" &&
        !mapping.job &&
        "job is missing: action job needs it, to say which job a request reports",
      mapping.action === "job" && prefixFault(mapping, mappings.slice(0, i)),
      ...idleOptions(mapping),
    ].flatMap((fault) => (typeof fault === "string" ? [`${key}.${fault}`] : []));
  });
}

function pathFault(path: string): string | false {
  if (BUILT_IN_HOOKS.includes(path))
    return `match.path must not be ${path}: choose another name, because this is a built-in hook`;
  if (path.split("/").some((segment) => segment === "." || segment === "..")) {
    return "match.path must have no segment . or ..: no request arrives with one";
  }
  const decoded = decodedName(path);
  return (
    decoded !== path &&
    `match.path must be written without percent-encoding (${decoded}): names are compared after decoding`
  );
}

function agentOfMappingFault({ agentId }: Mapping, { agents }: Surroundings): string | false {
  const fault = agentFault(agents, agentId);
  return fault !== null && `agentId ${fault}`;
}

function modelFault({ model, agentId }: Mapping, { agents }: Surroundings): string | false {
  const resolved = resolveModel(agentSettings(agents, agentId) ?? agents.defaults, model);
  return !resolved.ok && model !== undefined && `model must be one of ${resolved.allowed.join(", ")}`;
}

function transformFault({ transform }: Mapping, { transformsDir }: Surroundings): string | false {
  if (!transform || transformsDir === undefined) return false;
  const resolved = resolveTransform(transformsDir, transform.module);
  return !resolved.ok && `transform.module: ${resolved.reason}`;
}

function handshakeFaults({ match, handshake, verifyToken }: Mapping): (string | false)[] {
  return [
    handshake !== undefined &&
      match?.path === undefined &&
      "handshake needs match.path: add the name under which this sender calls",
    handshake !== undefined &&
      verifyToken === undefined &&
      `verifyToken is missing: handshake ${handshake} needs it, so that no other account can use the URL`,
    handshake === undefined &&
      verifyToken !== undefined &&
      "verifyToken has no effect without handshake: remove it, or name the handshake of the sender",
  ];
}

/** Finds another mapping whose sender could name the jobs of this one. Two may share a prefix that both of them state. */
function prefixFault(mapping: Mapping, others: readonly Mapping[]): string | false {
  const prefix = jobPrefixOf(mapping);
  const other = others.find((one) => {
    const theirs = jobPrefixOf(one);
    const isShared = prefix === theirs && mapping.idPrefix !== undefined && one.idPrefix !== undefined;
    return one.action === "job" && !isShared && (prefix.startsWith(theirs) || theirs.startsWith(prefix));
  });
  return (
    other !== undefined &&
    `idPrefix ${prefix} overlaps with ${jobPrefixOf(other)} of the mapping ${mappingKey(other)}, so that one sender could change the jobs of the other: choose another one`
  );
}

/** The keys of a mapping that only a run of the agent reads. */
const OF_TURN = [
  "sessionKey",
  "deliver",
  "channel",
  "to",
  "agentId",
  "model",
  "thinking",
  "timeoutSeconds",
  "trackAsJob",
  "instructions",
  "allowUnsafeExternalContent",
] as const satisfies readonly (keyof Mapping)[];

/** The keys of a mapping that its action never reads. A transform may choose another action, and then they are read. */
const UNREAD: Readonly<Record<Mapping["action"], readonly (keyof Mapping)[]>> = {
  agent: ["textTemplate", "job", "idPrefix"],
  wake: ["messageTemplate", "job", "idPrefix", ...OF_TURN],
  job: ["messageTemplate", "textTemplate", "wakeMode", ...OF_TURN],
};

/** The values of keys that are not written in the file. */
const DEFAULTS: Partial<Record<keyof Mapping, unknown>> = {
  deliver: true,
  channel: "last",
  allowUnsafeExternalContent: false,
  wakeMode: "now",
};

/**
 * Returns a sentence, beginning with the key, for each option of a mapping that nothing reads. A recipient beside
 * `deliver: false` is allowed, because `deliver` is a switch that an operator turns off for a while.
 */
function idleOptions(mapping: Mapping): string[] {
  const { action, transform } = mapping;
  if (transform) return [];
  const isSet = (key: keyof Mapping) => mapping[key] !== undefined && mapping[key] !== DEFAULTS[key];
  const readerOf = (key: keyof Mapping) =>
    (["agent", "wake", "job"] as const).find((one) => !UNREAD[one].includes(key));
  const unread = UNREAD[action].filter(isSet);
  return unread.map(
    (key) => `${key} has no effect with action ${action}: remove it, or set action to ${readerOf(key)}`,
  );
}
