import type { FreeObject, Gate } from "../../../client/client.ts";

/** One field of a form, from a property of a `requestedSchema`. */
export interface Field {
  readonly name: string;
  /** The name in the form, which keeps the fields of a schema apart from the form's own. */
  readonly inputName: string;
  readonly title: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
  readonly kind: "text" | "long" | "number" | "email" | "url" | "date" | "datetime-local" | "yesNo" | "one" | "many";
  readonly options: readonly { readonly value: string; readonly title: string }[];
  /** The limits of an input, as attributes. */
  readonly limits: Readonly<Record<string, number | string | undefined>>;
  readonly initial: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: the service has checked the schema
type Property = Record<string, any>;

/** Strings that may have more characters get several lines. */
const MAX_LINE_CHARS = 200;
const INPUTS: Readonly<Record<string, Field["kind"]>> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "datetime-local",
};

/** Returns the fields of a gate's form; empty without a schema. */
export function fieldsOf({ requestedSchema }: Gate): Field[] {
  const { properties = {}, required = [] } = (requestedSchema ?? {}) as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const kind = kindOf(property);
    return {
      name,
      inputName: `field.${name}`,
      kind,
      title: property.title ?? name,
      hint: property.description,
      options: optionsOf(property),
      isRequired: required.includes(name),
      limits: {
        minLength: property.minLength,
        maxLength: property.maxLength,
        min: property.minimum,
        max: property.maximum,
        ...(kind === "number" && { step: property.type === "integer" ? 1 : "any" }),
      },
      initial: initialOf(property),
    };
  });
}

function kindOf({ type, format, enum: values, oneOf, maxLength = 0 }: Property): Field["kind"] {
  if (type === "boolean") return "yesNo";
  if (type === "array") return "many";
  if (type !== "string") return "number";
  if (values || oneOf) return "one";
  return INPUTS[format] ?? (maxLength > MAX_LINE_CHARS ? "long" : "text");
}

function optionsOf({ enum: values, enumNames, oneOf, items }: Property): Field["options"] {
  const titled: { const: string; title: string }[] | undefined = oneOf ?? items?.anyOf;
  if (titled) return titled.map((option) => ({ value: option.const, title: option.title }));
  return (values ?? items?.enum ?? []).map((value: string, i: number) => ({ value, title: enumNames?.[i] ?? value }));
}

function initialOf({ default: value, format }: Property): string[] {
  if (value === undefined) return [];
  return format === "date-time" ? [localTime(new Date(value))] : [value].flat().map(String);
}

/** Returns a time as `datetime-local` shows it, in the time zone of the browser. */
const localTime = (time: Date): string =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** Returns the content that a form holds. The service checks it. */
export function contentOf(fields: readonly Field[], form: FormData): FreeObject {
  const entries = fields.flatMap((field): [string, unknown][] => {
    const value = entered(field, form.getAll(field.inputName).map(String));
    return value === undefined ? [] : [[field.name, value]];
  });
  return Object.fromEntries(entries);
}

function entered({ kind, isRequired }: Field, values: readonly string[]): unknown {
  const [text = ""] = values;
  if (kind === "yesNo") return values.length > 0;
  if (kind === "many") return values.length > 0 || isRequired ? values : undefined;
  if (text === "") return undefined;
  if (kind === "number") return Number(text);
  if (kind === "datetime-local") return new Date(text).toISOString();
  return text.replaceAll("\r\n", "\n");
}
