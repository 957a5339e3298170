import type { ErrorObject } from "ajv";
import { IDENTIFIER_PATTERN } from "../text.ts";
import { nearest } from "./nearest.ts";

/** Returns the name of a missing or unknown field, which the path of the fault does not include; undefined for other faults. */
export const faultyField = ({ params }: ErrorObject): string | undefined =>
  params.additionalProperty ?? params.missingProperty;

/**
 * Returns what is wrong with a field, to follow its name. Never contains the value, which may be a secret.
 * @param error an error of an Ajv with the option `verbose`
 * @param patterns the description of each pattern
 */
export function describeFault(error: ErrorObject, patterns: Readonly<Record<string, string>> = {}): string {
  if (error.keyword === "additionalProperties") {
    const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
    const suggestion = nearest(faultyField(error) ?? "", known);
    return suggestion ? `is not known; did you mean ${suggestion}?` : "is not known";
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
