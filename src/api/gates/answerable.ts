import type { FieldSchema } from "../../shared/form/formSchema.ts";

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
export function findUnanswerable(field: FieldSchema): Fault | undefined {
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
  const { type, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY, minItems = 0 } = field;
  if (minLength > maxLength) return ["minLength", "must not be greater than maxLength"];
  if (minItems > (field.maxItems ?? minItems)) return ["minItems", "must not be greater than maxItems"];
  const [shortest, longest] = format ? FORMAT_CHARS[format] : [0, Number.POSITIVE_INFINITY];
  if (maxLength < shortest) return ["maxLength", `must allow the ${shortest} characters of a short ${format}`];
  if (minLength > longest) return ["minLength", `must allow the ${longest} characters of a ${format}`];
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = field;
  if (minimum > maximum) return ["minimum", "must not be greater than maximum"];
  if (type === "integer" && Math.ceil(minimum) > Math.floor(maximum))
    return ["minimum", "must leave an integer below maximum"];
  return undefined;
}
