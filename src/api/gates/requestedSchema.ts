import Type from "typebox";
import { AppError } from "../../shared/errors.ts";
import { nameAt } from "../../shared/form/form.ts";
import type { FieldSchema, FormSchema } from "../../shared/form/formSchema.ts";
import { bodyCheck } from "../routing/validate.ts";
import { checkContent, integerBounds } from "./content.ts";

const text = (maxLength: number) => ({ type: "string", maxLength });
/** Maximum of `minLength`: 50 required fields of this length still fit in the body of an answer. */
const MAX_MIN_LENGTH = 1_000;
const count = { type: "integer", minimum: 0, maximum: 1_000_000 };
const texts = { type: "array", minItems: 1, maxItems: 200, uniqueItems: true, items: text(1_024) };
const names = { type: "array", maxItems: 200, items: text(1_024) };
const options = {
  type: "array",
  minItems: 1,
  maxItems: 200,
  items: {
    type: "object",
    required: ["const", "title"],
    properties: { const: text(1_024), title: text(1_024) },
    additionalProperties: false,
  },
};
const annotations = { title: text(1_024), description: text(4_096) };

/** The keywords of each type, as MCP's elicitation has them in its revisions of 2025-06-18 and 2025-11-25. */
const KEYWORDS: Readonly<Record<FieldSchema["type"], object>> = {
  string: {
    minLength: { ...count, maximum: MAX_MIN_LENGTH },
    maxLength: count,
    pattern: text(1_024),
    default: text(65_536),
    format: { enum: ["email", "uri", "date", "date-time"] },
    enum: texts,
    enumNames: names,
    oneOf: options,
  },
  number: { minimum: { type: "number" }, maximum: { type: "number" }, default: { type: "number" } },
  integer: { minimum: { type: "number" }, maximum: { type: "number" }, default: { type: "integer" } },
  boolean: { default: { type: "boolean" } },
  array: {
    minItems: count,
    maxItems: count,
    default: names,
    items: {
      type: "object",
      properties: { type: { const: "string" }, enum: texts, anyOf: options },
      additionalProperties: false,
    },
  },
};

const field = {
  type: "object",
  required: ["type"],
  properties: { type: { enum: Object.keys(KEYWORDS) } },
  allOf: Object.entries(KEYWORDS).map(([type, keywords]) => ({
    if: { required: ["type"], properties: { type: { const: type } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: { type: {}, ...annotations, ...keywords },
      additionalProperties: false,
      ...(type === "array" && { required: ["items"] }),
    },
  })),
};

/** Checks that a value is a schema that a gate accepts: MCP's `requestedSchema`. */
const checkShape = bodyCheck(
  Type.Unsafe<unknown>({
    type: "object",
    required: ["type", "properties"],
    properties: {
      $schema: text(1_024),
      type: { const: "object" },
      ...annotations,
      properties: { type: "object", maxProperties: 50, additionalProperties: field },
      required: { type: "array", maxItems: 50, items: { type: "string" } },
      additionalProperties: { type: "boolean" },
    },
    additionalProperties: false,
  }),
  { at: "/requestedSchema" },
);

/**
 * Checks a `requestedSchema`: its keywords, that names refer to properties, that patterns are valid, that defaults fit, and that
 * a person can answer each field.
 * @throws AppError invalid_body with the pointer of each fault
 */
export function checkRequestedSchema(schema: object): void {
  checkShape(schema);
  const { properties, required = [] } = schema as FormSchema;
  for (const [i, name] of required.entries()) {
    if (!Object.hasOwn(properties, name)) throw fault(["required", String(i)], "must be the name of a property");
  }
  for (const [name, one] of Object.entries(properties)) {
    const at = (keyword: string) => ["properties", name, keyword];
    // JavaScript and browsers change such names, so that the answer would name another field.
    if (name === "__proto__" || /\p{Cc}/u.test(name)) throw fault(["properties", name], "must have another name");
    if (one.enumNames && one.enumNames.length !== one.enum?.length) {
      throw fault(at("enumNames"), "must have as many items as enum");
    }
    if (one.type === "array" && !one.items?.enum === !one.items?.anyOf) {
      throw fault(at("items"), "must have either enum or anyOf");
    }
    if (one.pattern !== undefined && !isPattern(one.pattern)) {
      throw fault(at("pattern"), "must be a regular expression");
    }
    const [keyword, detail] = findUnanswerable(one) ?? [];
    if (keyword) throw fault(at(keyword), String(detail));
  }
  checkDefaults(properties);
}

function isPattern(pattern: string): boolean {
  try {
    return Boolean(new RegExp(pattern, "u"));
  } catch {
    return false;
  }
}

/** Checks the defaults in one call, because the regular expressions of one call share their time. */
function checkDefaults(properties: FormSchema["properties"]): void {
  const given = Object.entries(properties).filter(([, field]) => field.default !== undefined);
  try {
    checkContent(
      { properties: Object.fromEntries(given) },
      Object.fromEntries(given.map(([name, field]) => [name, field.default])),
    );
  } catch (error) {
    const pointer = error instanceof AppError ? error.errors?.[0]?.pointer : undefined;
    if (pointer === undefined) throw error;
    throw fault(["properties", nameAt(pointer), "default"], "must fit the property");
  }
}

function fault(path: readonly string[], detail: string): AppError {
  const steps = ["requestedSchema", ...path];
  const pointer = steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return new AppError("invalid_body", {
    detail: `${steps.join("/")} ${detail}.`,
    errors: [{ pointer, detail }],
  });
}

/** The number of characters of the values of a format, from the shortest to the longest. */
const FORMAT_CHARS = {
  date: [10, 10],
  "date-time": [20, Number.POSITIVE_INFINITY],
  email: [5, Number.POSITIVE_INFINITY],
  uri: [3, Number.POSITIVE_INFINITY],
} as const;

/** The keywords of strings that choices replace, as in MCP's elicitation. */
const OF_TEXTS = ["minLength", "maxLength", "pattern", "format"] as const;

/** A keyword that no answer, or not every choice, can fit, and its fault. */
type Fault = readonly [keyword: keyof FieldSchema, detail: string];

/**
 * Returns the keyword because of which a person could not answer a field: bounds without a value between them, and choices
 * that cannot be chosen. Whether a pattern matches any text within the bounds is not checked.
 */
function findUnanswerable(field: FieldSchema): Fault | undefined {
  return choicesFault(field) ?? boundsFault(field);
}

function choicesFault({ enum: values, oneOf, items, ...field }: FieldSchema): Fault | undefined {
  if (values && oneOf) return ["enum", "must be absent next to oneOf"];
  const beside = values || oneOf ? OF_TEXTS.find((keyword) => field[keyword] !== undefined) : undefined;
  if (beside) return [beside, "must be absent next to choices"];
  const titled = oneOf ?? items?.anyOf ?? [];
  if (new Set(titled.map((option) => option.const)).size < titled.length)
    return [oneOf ? "oneOf" : "items", "must not have two choices with the same const"];
  const count = (items?.enum ?? items?.anyOf)?.length;
  if (count !== undefined && (field.minItems ?? 0) > count)
    return ["minItems", "must not be greater than the number of choices"];
  return undefined;
}

function boundsFault(field: FieldSchema): Fault | undefined {
  const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY, minItems = 0 } = field;
  if (minLength > maxLength) return ["minLength", "must not be greater than maxLength"];
  if (minItems > (field.maxItems ?? minItems)) return ["minItems", "must not be greater than maxItems"];
  const [shortest, longest] = format ? FORMAT_CHARS[format] : [0, Number.POSITIVE_INFINITY];
  if (maxLength < shortest) return ["maxLength", `must allow the ${shortest} characters of a short ${format}`];
  if (minLength > longest) return ["minLength", `must allow the ${longest} characters of a ${format}`];
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = field;
  if (minimum > maximum) return ["minimum", "must not be greater than maximum"];
  const { minimum: least = 0, maximum: most = 0 } = integerBounds(field);
  if (Math.ceil(least) > Math.floor(most)) return ["minimum", "must leave an integer below maximum, within ±2^53"];
  return undefined;
}
