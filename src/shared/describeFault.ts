import type { ErrorObject } from "ajv";
import { nearest } from "./text/nearest.ts";
import { IDENTIFIER_PATTERN } from "./text/text.ts";

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
  if (error.keyword === "required") return `is required${mistypedHint(error)}`;
  if (error.keyword === "enum") return enumFault(error);
  if (error.keyword === "pattern") {
    return patterns[error.schema as string] ?? PATTERNS[error.schema as string] ?? `must match ${error.schema}`;
  }
  if (error.schema === "date-time") return timeFault(error.data);
  return limitFault(error) ?? error.message ?? "is not valid";
}

/** Names an unknown field that may be a missing one, where unknown fields are allowed and therefore not reported. */
function mistypedHint({ data, parentSchema, params }: ErrorObject): string {
  const { properties = {}, additionalProperties } = (parentSchema ?? {}) as {
    properties?: object;
    additionalProperties?: unknown;
  };
  if (additionalProperties === false) return "";
  const unknown = Object.keys(data as object).filter((name) => !Object.hasOwn(properties, name));
  const mistyped = unknown.find((name) => nearest(name, [params.missingProperty]) !== undefined);
  return mistyped === undefined ? "" : `; is ${mistyped} misspelled?`;
}

/** Values of a field among which a reader finds the right one at once. */
const FEW_VALUES = 5;

/** Returns which values a field may have, and in a long list the one that may have been meant. */
export function enumFault({ params, data }: Pick<ErrorObject, "params" | "data">): string {
  const allowed: string[] = params.allowedValues.map(String);
  const meant = allowed.length > FEW_VALUES && typeof data === "string" ? nearest(data, allowed) : undefined;
  return `must be one of ${allowed.join(", ")}${meant ? `; did you mean ${meant}?` : ""}`;
}

/** Matches a time whose `+` was decoded as a space, as in the query of a URL. */
const PLUS_AS_SPACE = /^\d{4}-\d\d-\d\dT[\d:.]+ \d\d:?\d\d$/;

/** Matches the form of a time, whether it exists or not. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function timeFault(value: unknown): string {
  if (typeof value === "string" && TIME.test(value))
    return "must be an existing time whose year in UTC is from 0000 to 9999; leap seconds are not supported";
  const fault = "must be a time with a time zone (RFC 3339), such as 2026-01-31T18:00:00Z";
  const isPlusLost = typeof value === "string" && PLUS_AS_SPACE.test(value);
  return isPlusLost ? `${fault}: write + as %2B in a URL, as in 2026-01-31T18:00:00%2B01:00` : fault;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  object: "an object",
  array: "a list",
  boolean: "true or false",
};

/** Returns which type or limit a value violates; undefined for faults of other kinds. */
export function limitFault({ keyword, params }: Pick<ErrorObject, "keyword" | "params">): string | undefined {
  const { limit } = params;
  switch (keyword) {
    case "type":
      return `must be ${[params.type]
        .flat()
        .map((type: string) => TYPES[type] ?? type)
        .join(" or ")}`;
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    case "exclusiveMinimum":
      return `must be greater than ${limit}`;
    case "minLength":
    case "minItems":
    case "minProperties":
      return limit === 1
        ? "must not be empty"
        : `must have at least ${limit} ${keyword === "minLength" ? "characters" : "items"}`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    case "maxItems":
      return `must have at most ${limit} items`;
    case "uniqueItems":
      return "must not have the same item twice";
    default:
      return undefined;
  }
}

const PATTERNS: Readonly<Record<string, string>> = {
  [IDENTIFIER_PATTERN]: "must not contain control characters",
  "\\S": "must not be blank",
};
