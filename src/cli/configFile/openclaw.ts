import { ConfigSchema } from "../../config/config.ts";
import { type ConfigNode, childNode } from "../../config/nodes.ts";
import { isObject } from "../../shared/text/json.ts";

type Json = Readonly<Record<string, unknown>>;

/** A configuration of OpenClaw as one of Signalbox. */
export interface Imported {
  readonly config: Json;
  /** A sentence, beginning with the key of OpenClaw's file or the key that it became, for each setting that was left out. */
  readonly left: readonly string[];
}

/** The keys of a mapping that are templates only in OpenClaw. */
const PLAIN = ["model", "thinking"];

/** Translates a configuration of OpenClaw: its hooks, mappings, channels, agents and the first model server. */
export function importOpenClaw(file: Json): Imported {
  const left: string[] = [];
  const { hooks, agents, models, channels, session, ...rest } = file;
  const [[provider, server] = [undefined, undefined], ...others] = Object.entries(objectOf(objectOf(models).providers));
  for (const [name] of others) left.push(`models.providers.${name}: there is one model server for all agents`);
  const modelOf = (value: unknown, key: string): string | undefined => {
    const { primary = value, fallbacks } = objectOf(value);
    if (fallbacks !== undefined) left.push(`${key}.fallbacks: a model has no fallbacks`);
    const prefix = `${provider}/`;
    return typeof primary !== "string"
      ? undefined
      : primary.startsWith(prefix)
        ? primary.slice(prefix.length)
        : primary;
  };
  const settings = ({ model, thinkingDefault: thinking, workspace: cwd, ...more }: Json, key: string): Json => ({
    ...more,
    ...defined({ model: modelOf(model, `${key}.model`), thinking, cwd }),
  });
  const { list = [], entries, defaults, ...ofAgents } = objectOf(agents);
  const listed = Array.isArray(list) ? list.map(objectOf).map(({ id, ...one }) => [String(id), one] as const) : [];
  const { cwd, maxConcurrent, ...ofAll } = settings(objectOf(defaults), "agents.defaults");
  const { baseUrl, apiKey } = objectOf(server);
  const translated = {
    ...rest,
    hooks: { ...hooksOf(objectOf(hooks), left), compat: "openclaw" },
    agents: {
      ...ofAgents,
      defaults: { ...(server !== undefined && { runner: "openai" }), ...ofAll },
      list: Object.fromEntries(
        [...listed, ...Object.entries(objectOf(entries))].map(([id, one]) => [
          id,
          settings(objectOf(one), `agents.list.${id}`),
        ]),
      ),
      ...(server !== undefined && { runners: { openai: defined({ baseUrl, apiKey }) } }),
    },
    ...(maxConcurrent !== undefined && { worker: { concurrency: maxConcurrent } }),
    channels: channelsOf(objectOf(channels), left),
    session: objectOf(session),
  };
  if (cwd !== undefined) left.push("agents.defaults.workspace: set agents.runners.command.cwd");
  const config = objectOf(known(translated, ConfigSchema as ConfigNode, "", left));
  return { config: withoutEmpty(config), left: left.sort() };
}

function hooksOf({ path, allowedSessionKeyPrefixes: prefixes, mappings, ...hooks }: Json, left: string[]): Json {
  const own = Array.isArray(mappings) ? mappings.map(objectOf) : [];
  return {
    ...hooks,
    ...(typeof path === "string" && { path: `/${trimmed(path)}` }),
    ...(Array.isArray(prefixes) && prefixes.length > 0 && { allowedSessionKeyPrefixes: prefixes }),
    mappings: own.map((mapping, i) => {
      const { match, sessionKey, sessionMode, ...more } = mapping;
      const key = `hooks.mappings.${i}`;
      const isIsolated = sessionKey !== undefined && sessionMode !== "persistent";
      if (isIsolated) left.push(`${key}.sessionKey: without sessionMode persistent each run has its own session`);
      const templates = PLAIN.filter((name) => String(more[name] ?? "").includes("{{"));
      for (const name of templates) left.push(`${key}.${name}: it is no template here; let a transform return it`);
      const { path: name, ...rest } = objectOf(match);
      return {
        ...Object.fromEntries(Object.entries(more).filter(([one]) => !templates.includes(one))),
        ...(match !== undefined && { match: { ...rest, ...(typeof name === "string" && { path: trimmed(name) }) } }),
        ...(sessionKey !== undefined && !isIsolated && { sessionKey }),
      };
    }),
  };
}

/** Renames the token of Discord and the address of Mattermost, and leaves out channels that are off. */
function channelsOf(channels: Json, left: string[]): Json {
  const entries = Object.entries(channels).flatMap(([name, value]) => {
    const { enabled = true, token: botToken, baseUrl: apiUrl, ...settings } = objectOf(value);
    if (enabled === false) left.push(`channels.${name}: it is off`);
    return enabled === false ? [] : [[name, defined({ botToken, apiUrl, ...settings })] as const];
  });
  return Object.fromEntries(entries);
}

/** Returns the part of a value that a configuration of Signalbox can have, and notes the rest. */
function known(value: unknown, node: ConfigNode, path: string, left: string[]): unknown {
  if (node.enum && typeof value === "string" && !node.enum.includes(value)) {
    left.push(`${path}: ${JSON.stringify(value)} is none of ${node.enum.join(", ")}`);
    return undefined;
  }
  if (Array.isArray(value)) {
    const { items } = node;
    return items ? value.map((one, i) => known(one, items, `${path}.${i}`, left)).filter(isDefined) : value;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => {
    const child = childNode(node, key);
    const at = path === "" ? key : `${path}.${key}`;
    if (!child) left.push(`${at}: there is no such setting`);
    return [key, child && known(one, child, at, left)] as const;
  });
  return Object.fromEntries(entries.filter(([, one]) => isDefined(one)));
}

/** Leaves out sections that have become empty. */
const withoutEmpty = (config: Json): Json =>
  Object.fromEntries(Object.entries(config).filter(([, one]) => !isObject(one) || Object.keys(one).length > 0));

const isDefined = (value: unknown): boolean => value !== undefined;
const defined = (fields: Json): Json => Object.fromEntries(Object.entries(fields).filter(([, one]) => isDefined(one)));
const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
const trimmed = (path: string): string => path.replace(/^\/+|\/+$/g, "");
