import type { Config } from "../../config/config.ts";
import { decodedName, jobPrefixOf, mappingKey } from "../../config/mappings/mapping.ts";
import { attemptPathOf, presetTemplates } from "../../config/mappings/presets.ts";
import { TEMPLATES } from "../../config/mappings/templates.ts";
import {
  parseTemplate,
  type Reference,
  renderTemplate,
  type Template,
  type TemplateScope,
} from "../../shared/text/template.ts";
import type { SenderAuth } from "../signatures/verifySender.ts";
import { CLOUD_EVENT_HEADERS, cloudEvent } from "./cloudEvent.ts";
import { compileJob, type JobTemplate, referencesOf } from "./mappedJob.ts";
import { preset } from "./presets.ts";
import type { ReadNames } from "./secretNames.ts";
import { type Condition, compileWhen, isAboutItems, unmetCondition } from "./when.ts";

type MappingConfig = Config["hooks"]["mappings"][number];

/** A compiled mapping: its templates are parsed and its defaults are filled in. */
export interface Mapping extends Omit<MappingConfig, (typeof TEMPLATES)[number] | "auth" | "maxBodyBytes" | "job"> {
  /** Identifies the mapping in logs, metrics and records. It is unique in a configuration. */
  readonly key: string;
  readonly templates: Readonly<Partial<Record<(typeof TEMPLATES)[number], Template>>>;
  /** The templates that the operator wrote, and no preset. */
  readonly ownTemplates: readonly (typeof TEMPLATES)[number][];
  /** For `action: job`. */
  readonly job: JobTemplate | undefined;
  readonly idPrefix: string;
  /** The compiled `match.when`. */
  readonly conditions: readonly Condition[];
  readonly auth: SenderAuth | undefined;
  readonly maxBodyBytes: number;
}

/** One request to a mapped hook, without the sender's secrets. */
export interface HookCall {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly url: string;
  /** The part of the path after the base path. */
  readonly path: string;
  readonly query: Readonly<Record<string, string | string[] | undefined>>;
  readonly payload: JsonBody;
}

/** A body: an object, or an array, as services send that report several events at once. */
export type JsonBody = Readonly<Record<string, unknown>> | readonly unknown[];

/**
 * The values of `forEach` that mean the body itself if that is an array. In templates too, `payload` is the whole body; in an
 * object it names a field.
 */
const WHOLE_BODY: readonly string[] = [".", "payload"];

/**
 * Compiles the mappings of a configuration: the operator's own first, then the presets.
 * @throws TemplateError if the configuration was not checked and has an invalid template
 */
export function compileMappings(hooks: Config["hooks"]): readonly Mapping[] {
  return [
    ...hooks.mappings.map((mapping) => compile(mapping, hooks.maxBodyBytes)),
    ...hooks.presets.map((name) => ({ ...compile(preset(name, hooks), hooks.maxBodyBytes), ownTemplates: [] })),
  ];
}

function compile(config: MappingConfig, defaultMaxBodyBytes: number): Mapping {
  const templates = TEMPLATES.flatMap((key) => {
    const text = config[key];
    return text === undefined ? [] : [[key, parseTemplate(text)] as const];
  });
  const ofPreset = presetTemplates(config.preset);
  return {
    ...config,
    key: mappingKey(config),
    job:
      config.job &&
      compileJob(config.job, {
        isPreset: config.preset !== undefined,
        attempt: attemptPathOf(config.preset),
      }),
    idPrefix: jobPrefixOf(config),
    templates: Object.fromEntries(templates),
    ownTemplates: TEMPLATES.filter((key) => !ofPreset.includes(config[key])),
    conditions: compileWhen(config.match?.when),
    auth: config.auth as SenderAuth | undefined,
    maxBodyBytes: config.maxBodyBytes ?? defaultMaxBodyBytes,
  };
}

/** Returns the name of the hook in a request path below the base path, percent-decoded if possible. */
export const hookName = (basePath: string, path: string): string => decodedName(path.slice(basePath.length + 1));

/**
 * Returns the mappings that may match a request with this name. The match may also depend on the request; see
 * `selectMapping`.
 */
export function mappingsNamed(mappings: readonly Mapping[], name: string): readonly Mapping[] {
  return name === "" ? [] : mappings.filter(({ match }) => match?.path === undefined || match.path === name);
}

/** Returns the names of headers and parameters that the conditions and templates of mappings read. */
export function readNamesOf(mappings: readonly Mapping[]): ReadNames {
  const references = mappings.flatMap(({ conditions, templates, job }) => [
    ...(job ? referencesOf(job) : []),
    ...conditions.map(({ reference }) => reference),
    ...Object.values(templates).flatMap((parts) => parts.filter((part) => typeof part !== "string")),
  ]);
  const namesIn = (root: Reference["root"]) =>
    new Set(references.flatMap((one) => (one.root === root ? one.keys.slice(0, 1) : [])));
  const headers = namesIn("headers");
  if (mappings.some((one) => one.preset === "cloudevents")) for (const name of CLOUD_EVENT_HEADERS) headers.add(name);
  return { headers, query: namesIn("query") };
}

/** Returns the items of the body's `forEach` array, or undefined if there is no such array. */
function itemsOf({ forEach }: Mapping, payload: JsonBody): readonly unknown[] | undefined {
  if (Array.isArray(payload)) return forEach !== undefined && WHOLE_BODY.includes(forEach) ? payload : undefined;
  const items =
    forEach !== undefined && forEach !== "." && Object.hasOwn(payload, forEach)
      ? (payload as Readonly<Record<string, unknown>>)[forEach]
      : undefined;
  return Array.isArray(items) ? items : undefined;
}

/**
 * Returns the items of the body's `forEach` array that meet the conditions about items, or undefined if there is no such array.
 * Only the request is compared with them, not the runs that it started: a change of the configuration does not take their item.
 */
export function wantedItems(mapping: Mapping, call: HookCall, now: Date): readonly unknown[] | undefined {
  const conditions = mapping.conditions.filter(isAboutItems);
  const items = itemsOf(mapping, call.payload);
  if (conditions.length === 0) return items;
  const { payload, headers, query, path } = call;
  return items?.filter((value) => !unmetCondition(conditions, { payload, headers, query, path, now, item: { value } }));
}

/** Returns the call with other items in its `forEach` array. */
export function withItems(call: HookCall, forEach: string, items: readonly unknown[]): HookCall {
  return { ...call, payload: Array.isArray(call.payload) ? items : { ...call.payload, [forEach]: items } };
}

/** Returns the values that the templates of a mapping can refer to. @param now the time of acceptance */
export function templateScope(mapping: Mapping, call: HookCall, now: Date): TemplateScope {
  const { headers, query, path } = call;
  const payload = mapping.preset === "cloudevents" ? cloudEvent(call) : call.payload;
  const items = itemsOf(mapping, call.payload);
  return { payload, headers, query, path, now, item: items && { value: items[0] } };
}

/**
 * Splits a call into one for each wanted item of its `forEach` array, which then contains only that item. Without `forEach` the
 * call is returned alone; null if the body has no such array.
 */
export function expandItems(mapping: Mapping, call: HookCall, now: Date): HookCall[] | null {
  const { forEach } = mapping;
  if (forEach === undefined) return [call];
  const items = wantedItems(mapping, call, now);
  return items?.map((item) => withItems(call, forEach, [item])) ?? null;
}

/** Renders the name with which the summary begins; the mapping's key if its template is missing or renders blank. */
export function renderName({ key, templates }: Mapping, scope: TemplateScope): string {
  const text = templates.name && renderTemplate(templates.name, scope).text;
  return (text?.trim() || key).slice(0, 256);
}

/**
 * Renders the mapping's template of the session key. Returns undefined without a template, or if one of its values is
 * missing. `defaultKeyOf` applies only in the former case, so that unrelated senders do not share the default session.
 */
export function renderSessionKey({ templates }: Mapping, scope: TemplateScope): string | undefined {
  if (!templates.sessionKey) return undefined;
  const { text, missing } = renderTemplate(templates.sessionKey, scope);
  return missing ? undefined : text;
}

/** Returns the session of runs that get no other key, or undefined if each of them gets a session of its own. */
export const defaultKeyOf = (
  { templates }: Mapping,
  { defaultSessionKey }: Pick<Config["hooks"], "defaultSessionKey">,
): string | undefined => (templates.sessionKey ? undefined : defaultSessionKey);
