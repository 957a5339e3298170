import { decodedName, mappingKey, TEMPLATES } from "../../shared/config/checks/mappings.ts";
import {
  parseTemplate,
  renderTemplate,
  type Template,
  type TemplateScope,
} from "../../shared/config/formats/template.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import type { SenderAuth } from "../signatures/verifySender.ts";
import { preset } from "./presets.ts";

type MappingConfig = Config["hooks"]["mappings"][number];

/** A mapping as it is worked with: its templates parsed, its sizes known. */
export interface Mapping extends Omit<MappingConfig, (typeof TEMPLATES)[number] | "auth" | "maxBodyBytes"> {
  /** What it is called in logs, metrics and records; of two mappings of a configuration never the same. */
  readonly key: string;
  readonly templates: Readonly<Partial<Record<(typeof TEMPLATES)[number], Template>>>;
  readonly auth: SenderAuth | undefined;
  readonly maxBodyBytes: number;
}

/** What came with one request to a mapped hook, without the sender's secrets. */
export interface HookCall {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly url: string;
  /** The name behind the base path. */
  readonly path: string;
  readonly query: Readonly<Record<string, string | string[] | undefined>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The mappings of a configuration, the operator's own before the presets. @throws TemplateError never of a checked one */
export function compileMappings(hooks: Config["hooks"]): readonly Mapping[] {
  return [
    ...hooks.mappings.map((mapping) => compile(mapping, hooks.maxBodyBytes)),
    ...hooks.presets.map((name) => compile(preset(name, hooks), hooks.maxBodyBytes)),
  ];
}

function compile(config: MappingConfig, defaultMaxBodyBytes: number): Mapping {
  const templates = TEMPLATES.flatMap((key) => {
    const text = config[key];
    return text === undefined ? [] : [[key, parseTemplate(text)] as const];
  });
  return {
    ...config,
    key: mappingKey(config),
    templates: Object.fromEntries(templates),
    auth: config.auth as SenderAuth | undefined,
    maxBodyBytes: config.maxBodyBytes ?? defaultMaxBodyBytes,
  };
}

/** The name that a path under the base path asks for, percent-decoded where it can be. */
export const hookName = (basePath: string, path: string): string => decodedName(path.slice(basePath.length + 1));

/** Those that could take a request of this name; which of them does may rest on the body. */
export function mappingsAt(mappings: readonly Mapping[], name: string): readonly Mapping[] {
  return name === "" ? [] : mappings.filter(({ match }) => match?.path === undefined || match.path === name);
}

/** The first of the candidates that takes the body. */
export function matchBody(
  candidates: readonly Mapping[],
  body: Readonly<Record<string, unknown>>,
): Mapping | undefined {
  const source = Object.hasOwn(body, "source") ? body.source : undefined;
  return candidates.find(({ match }) => match?.source === undefined || match.source === source);
}

/** The items that a call of a mapping with `forEach` is about; undefined where there is no such array. */
export function itemsOf(
  { forEach }: Mapping,
  payload: Readonly<Record<string, unknown>>,
): readonly unknown[] | undefined {
  const items = forEach !== undefined && Object.hasOwn(payload, forEach) ? payload[forEach] : undefined;
  return Array.isArray(items) ? items : undefined;
}

/** What the templates of a mapping look into. @param now the time of acceptance */
export function scopeOf(mapping: Mapping, call: HookCall, now: Date): TemplateScope {
  const { payload, headers, query, path } = call;
  const items = itemsOf(mapping, payload);
  return { payload, headers, query, path, now, item: items && { value: items[0] } };
}

/**
 * The calls that one becomes: with `forEach` one for each item, whose array then holds that item alone. Null when the body
 * has no such array.
 */
export function expand(mapping: Mapping, call: HookCall): HookCall[] | null {
  const { forEach } = mapping;
  if (forEach === undefined) return [call];
  const items = itemsOf(mapping, call.payload);
  return items?.map((item) => ({ ...call, payload: { ...call.payload, [forEach]: [item] } })) ?? null;
}

/** What begins the summary; the mapping's key where its template says nothing. */
export function mappedName({ key, templates }: Mapping, scope: TemplateScope): string {
  const text = templates.name && renderTemplate(templates.name, scope).text;
  return (text?.trim() || key).slice(0, 256);
}

/**
 * The key that the mapping's own template gives. Undefined where there is none or a value in it is missing: only the former
 * has `defaultKeyOf`, so that strangers do not meet in the default session.
 */
export function mappedSessionKey({ templates }: Mapping, scope: TemplateScope): string | undefined {
  if (!templates.sessionKey) return undefined;
  const { text, missing } = renderTemplate(templates.sessionKey, scope);
  return missing ? undefined : text;
}

/** The session of runs to which nothing else gives one; undefined where each is to have its own. */
export const defaultKeyOf = (
  { templates }: Mapping,
  { defaultSessionKey }: Pick<Config["hooks"], "defaultSessionKey">,
): string | undefined => (templates.sessionKey ? undefined : defaultSessionKey);
