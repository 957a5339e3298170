import { lookUp, parsePath, type Reference, type TemplateScope } from "../../shared/config/formats/template.ts";
import type { Scalar, WhenValue } from "../../shared/config/schema/mapping.ts";

/** One condition of a mapping's `match.when`. */
export interface Condition {
  /** The path as the configuration has it. */
  readonly path: string;
  readonly reference: Reference;
  readonly wanted: readonly Scalar[] | { readonly exists: boolean };
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
export const isAboutItems = ({ reference }: Condition): boolean => reference.root === "item";

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
