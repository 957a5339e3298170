import type { ErrorObject } from "ajv";
import { IDENTIFIER_PATTERN } from "../text.ts";
import { nearest } from "./nearest.ts";

/** The field that a fault is about where it is missing or unknown, so that no place in the value leads to it. */
export const faultyField = ({ params }: ErrorObject): string | undefined =>
  params.additionalProperty ?? params.missingProperty;

/**
 * What is wrong, to be read after the field's name. Never tells the value.
 * @param error of an ajv that runs with `verbose`
 * @param patterns words for what a pattern wants
 */
export function describeFault(error: ErrorObject, patterns: Readonly<Record<string, string>> = {}): string {
  if (error.keyword === "additionalProperties") {
    const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
    const close = nearest(faultyField(error) ?? "", known);
    return close ? `is not known; did you mean ${close}?` : "is not known";
  }
  if (error.keyword === "required") return "is required";
  if (error.keyword === "enum") return `must be one of ${error.params.allowedValues.join(", ")}`;
  if (error.keyword === "pattern") {
    return patterns[error.schema as string] ?? PATTERNS[error.schema as string] ?? `must match ${error.schema}`;
  }
  if (error.schema === "date-time") return "must be a time with its zone (RFC 3339), such as 2026-01-31T18:00:00Z";
  return error.message ?? "is not valid";
}

const PATTERNS: Readonly<Record<string, string>> = {
  [IDENTIFIER_PATTERN]: "must not hold control characters",
  "\\S": "must not be blank",
};
