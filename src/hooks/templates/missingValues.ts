import { TEMPLATES } from "../../config/mappings/templates.ts";
import { isObject } from "../../shared/text/json.ts";
import { nearest } from "../../shared/text/nearest.ts";
import {
  lookUp,
  type Reference,
  renderTemplate,
  type Template,
  type TemplateScope,
} from "../../shared/text/template.ts";
import { referencesOf } from "../mappings/mappedJob.ts";
import { type HookCall, type Mapping, templateScope } from "../mappings/mapping.ts";
import type { TransformOutcome } from "../transforms/transforms.ts";

/** A placeholder that the request has no value for. */
export interface MissingValue {
  /** The path between the braces. */
  readonly path: string;
  /** The path of a value of the request that is spelled alike; null if there is none. */
  readonly didYouMean: string | null;
}

/** Maximum placeholders that are reported for a run. */
const MAX_REPORTED = 20;
/** Maximum names of an object that a mistyped one is compared with, because a body may have a million. */
const MAX_NAMES = 500;

const ROOTS = ["headers", "query", "item", "payload"] as const;
/** First keys of the body that a template must write `payload.…`. `path` and `now` are words only on their own. */
const RESERVED: readonly string[] = [...ROOTS, "path", "now"];

/** The field that each template makes. */
const FIELD_OF: Readonly<Record<(typeof TEMPLATES)[number], string>> = {
  messageTemplate: "message",
  textTemplate: "text",
  name: "name",
  sessionKey: "sessionKey",
  to: "to",
};

/**
 * Returns the placeholders of a mapping whose path leads to nothing in the request: mistyped ones, and those of fields that this
 * request does not have. A null is a value. Placeholders side by side, such as `{{issue.title}}{{pull_request.title}}`, are
 * alternatives, of which one value is enough. Templates of presets and fields that the transform has set are left out.
 */
export function missingValues(
  mapping: Mapping,
  call: HookCall,
  now: Date,
  transformed: TransformOutcome,
): readonly MissingValue[] {
  const scope = templateScope(mapping, call, now);
  const set = transformed.kind === "result" ? (transformed.value as Readonly<Record<string, unknown>>) : {};
  const used = usedTemplates((set.kind ?? mapping.action) === "wake").filter(
    (key) => mapping.ownTemplates.includes(key) && set[FIELD_OF[key]] === undefined,
  );
  const isReport = mapping.job && (set.kind ?? mapping.action) === "job";
  const templates = isReport ? jobTemplates(mapping) : used.map((key) => mapping.templates[key] ?? []);
  const references = templates.flatMap((template) => unresolved(template, scope));
  const byPath = new Map(references.map((reference) => [pathOf(reference), reference]));
  return Array.from(byPath, ([path, reference]) => ({ path, didYouMean: correct(reference, scope) })).slice(
    0,
    MAX_REPORTED,
  );
}

const usedTemplates = (isWake: boolean) =>
  TEMPLATES.filter((key) => !(isWake ? ["messageTemplate", "sessionKey", "to"] : ["textTemplate"]).includes(key));

/** Maximum placeholders that are shown with their values, and maximum characters of each value. */
const MAX_SHOWN = 30;
const MAX_VALUE_CHARS = 200;

/** Returns the placeholders of a mapping's templates with their values, each once: null where the request has none. */
export function placeholderValues(
  mapping: Mapping,
  call: HookCall,
  now: Date,
): { path: string; value: string | null }[] {
  const { action, job, templates } = mapping;
  const scope = templateScope(mapping, call, now);
  const references =
    action === "job" && job
      ? referencesOf(job)
      : usedTemplates(action === "wake").flatMap((key) =>
          (templates[key] ?? []).filter((part) => typeof part !== "string"),
        );
  const byPath = new Map(references.map((reference) => [pathOf(reference), reference]));
  return [...byPath].slice(0, MAX_SHOWN).map(([path, reference]) => {
    const { text, missing } = renderTemplate([reference], scope);
    return { path, value: missing ? null : text.slice(0, MAX_VALUE_CHARS).toWellFormed() };
  });
}

/** Returns the templates of a job that the operator wrote. A step of which not every request is may have no key. */
const jobTemplates = ({ job, preset }: Mapping): Template[] =>
  job && preset === undefined ? [job.id, job.name, job.message, job.progress].flatMap((one) => (one ? [one] : [])) : [];

function unresolved(template: Template, scope: TemplateScope): Reference[] {
  const missing: Reference[] = [];
  let alternatives: Reference[] = [];
  let isFound = false;
  for (const part of [...template, ""]) {
    if (typeof part !== "string") {
      alternatives.push(part);
      isFound ||= lookUp(part, scope) !== undefined;
      continue;
    }
    if (!isFound) missing.push(...alternatives);
    alternatives = [];
    isFound = false;
  }
  return missing;
}

/** Returns the path of a value whose keys are spelled like those of a reference. */
function correct({ root, keys }: Reference, scope: TemplateScope): string | null {
  const corrected = correctKeys(rootValue(root, scope), keys);
  if (corrected) return pathOf({ root, keys: corrected });
  const [first = "", ...rest] = keys;
  const other = root === "payload" && rest.length > 0 ? ROOTS.find((one) => one === nearest(first, ROOTS)) : undefined;
  const otherKeys = other && correctKeys(rootValue(other, scope), other === "headers" ? lowerFirst(rest) : rest);
  return other && otherKeys ? pathOf({ root: other, keys: otherKeys }) : null;
}

const lowerFirst = ([first = "", ...rest]: readonly string[]): string[] => [first.toLowerCase(), ...rest];

const rootValue = (root: Reference["root"], scope: TemplateScope): unknown =>
  root === "item" ? scope.item?.value : scope[root];

function correctKeys(value: unknown, keys: readonly string[]): readonly string[] | undefined {
  const [key, ...rest] = keys;
  if (key === undefined) return [];
  if (typeof value !== "object" || value === null) return undefined;
  const names = Object.keys(value).slice(0, MAX_NAMES);
  const name = Object.hasOwn(value, key) || !isObject(value) ? key : nearest(key, names);
  if (name === undefined || !Object.hasOwn(value, name)) return undefined;
  const corrected = correctKeys((value as Readonly<Record<string, unknown>>)[name], rest);
  return corrected && [name, ...corrected];
}

const PLAIN_NAME = /^[\p{L}\p{M}\p{N}_$-]+$/u;
const INDEX = /^(0|[1-9]\d*)$/;

/** Returns a reference as a template writes it. */
function pathOf({ root, keys }: Reference): string {
  const [first = ""] = keys;
  const isShort = root === "payload" && PLAIN_NAME.test(first) && !RESERVED.includes(first) && !INDEX.test(first);
  const [start, rest] = isShort ? [first, keys.slice(1)] : [root, keys];
  return start + rest.map(partOf).join("");
}

function partOf(key: string): string {
  if (INDEX.test(key)) return `[${key}]`;
  return PLAIN_NAME.test(key) ? `.${key}` : `["${key}"]`;
}
