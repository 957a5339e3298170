import type { Scalar, WhenValue } from "../../config/mappings/match.ts";
import { MASK } from "../../shared/text/sanitizeText.ts";
import { lookUp, parsePath, type Reference, type TemplateScope } from "../../shared/text/template.ts";
import { isSecretName } from "./secretNames.ts";

/** Maximum characters of a value, and maximum wanted values, in the description of an unmet condition. */
const MAX_VALUE_CHARS = 80;
const MAX_WANTED = 10;

/** One condition of a mapping's `match.when`. */
export interface Condition {
  /** The path as the configuration has it. */
  readonly path: string;
  readonly reference: Reference;
  readonly wanted: readonly Scalar[] | { readonly exists: boolean };
}

/** A condition with the value that a request has for it, for people. */
export interface ComparedCondition {
  /** Such as `payload.action is "opened"`. */
  readonly condition: string;
  readonly isMet: boolean;
  /** The value as JSON, cut; null if there is none. */
  readonly found: string | null;
}

/** Compiles the conditions of a mapping. @throws TemplateError if the configuration was not checked */
export function compileWhen(when: Readonly<Record<string, WhenValue>> = {}): readonly Condition[] {
  return Object.entries(when).map(([path, value]) => ({
    path,
    reference: parsePath(path),
    wanted: typeof value === "object" ? value : [value],
  }));
}

/** Whether a condition is about each item of a `forEach`, not about the request. */
export const isAboutItems = ({ reference }: Pick<Condition, "reference">): boolean => reference.root === "item";

/** Returns the first condition that a request does not meet; undefined if it meets all. */
export const unmetCondition = (conditions: readonly Condition[], scope: TemplateScope): Condition | undefined =>
  conditions.find((condition) => !isMet(condition, scope));

function isMet({ reference, wanted }: Condition, scope: TemplateScope): boolean {
  const value = lookUp(reference, scope);
  if ("exists" in wanted) return (value !== undefined && value !== null) === wanted.exists;
  if (reference.root === "payload" || reference.root === "item") return wanted.some((one) => one === value);
  // Headers and parameters are texts, and may be repeated.
  return [value].flat().some((text) => wanted.some((one) => String(one) === text));
}

/**
 * Describes a condition that a request does not meet, for people who look for its cause.
 * @returns such as `payload.action is "labeled", not one of "opened", "reopened"`
 */
export function describeUnmet({ path, reference, wanted }: Condition, scope: TemplateScope): string {
  if (isAboutItems({ reference })) return `no item has the wanted ${path}`;
  const value = lookUp(reference, scope);
  const isMissing = value === undefined || value === null;
  if ("exists" in wanted) return `${path} is ${isMissing ? "missing" : "present"}`;
  if (isSecret(reference)) return `${path} ${isMissing ? "is missing" : "has another value"}`;
  const found = value === undefined ? "is missing" : `is ${shortJson(value)}`;
  return `${path} ${found}, not ${describeWanted(wanted)}`;
}

const isSecret = ({ root, keys }: Reference): boolean => ["headers", "query"].includes(root) && keys.some(isSecretName);

/** Returns the wanted values, such as `one of "opened", "reopened"`. */
function describeWanted(wanted: readonly Scalar[]): string {
  const shown = wanted.slice(0, MAX_WANTED).map((one) => JSON.stringify(one));
  const others = wanted.length > MAX_WANTED ? ", …" : "";
  return `${wanted.length > 1 ? "one of " : ""}${shown.join(", ")}${others}`;
}

/** Compares a request with a condition about the whole of it, for people. */
export function compareCondition(condition: Condition, scope: TemplateScope): ComparedCondition {
  const { path, reference, wanted } = condition;
  const value = lookUp(reference, scope);
  const isMissing = value === undefined || value === null;
  const text = "exists" in wanted ? (wanted.exists ? "is present" : "is missing") : `is ${describeWanted(wanted)}`;
  return {
    condition: `${path} ${isSecret(reference) && !("exists" in wanted) ? "has the wanted value" : text}`,
    isMet: isMet(condition, scope),
    found: isMissing ? null : isSecret(reference) ? MASK : shortJson(value),
  };
}

/** Returns a value as JSON, cut. */
export function shortJson(value: unknown): string {
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
}
