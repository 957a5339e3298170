import { decimalOf } from "../text/decimal.ts";
import { type Html, html } from "../text/html.ts";
import type { FieldSchema, FormSchema } from "./formSchema.ts";

/** The prefix of the names of the fields of a schema, which keeps them apart from the form's own. */
const PREFIX = "field.";

/** The values of a submitted form. */
export type Submitted = URLSearchParams;

/** How a form shows times, and reads them. */
export interface Times {
  /** The note about the time zone; none if it is the reader's own. */
  readonly zone?: string;
  /** Returns the value of an input of the type `datetime-local`. */
  toInput(time: Date): string;
  /** Returns the time of such a value, or the text if it is none. */
  fromInput(text: string): string;
}

/** Times in UTC, for a page that does not know where its reader is. */
export const UTC: Times = {
  zone: "time in UTC",
  toInput: (time) => time.toISOString().slice(0, 16),
  fromInput: (text) => (/T\d\d:\d\d(:\d\d)?$/.test(text) ? `${text.length > 16 ? text : `${text}:00`}Z` : text),
};

export interface FormOptions {
  readonly times: Times;
  /** The beginning of the ids of the controls, on a page with several forms. */
  readonly id?: string;
  /** The values to show in place of the defaults. */
  readonly entered?: Submitted | undefined;
  /** The error of each field, by its name in the schema. */
  readonly faults?: ReadonlyMap<string, string> | undefined;
}

/**
 * Returns the controls for the fields of a schema, for the page behind a link and for the dashboard. Its styles are `field`,
 * `choice`, `muted` and `fault`.
 */
export function formFields({ properties, required = [] }: FormSchema, options: FormOptions): Html[] {
  const { id = "f", times, entered, faults } = options;
  return Object.entries(properties).map(([name, schema], i) => {
    const control = {
      id: `${id}${i}`,
      name: PREFIX + name,
      label: schema.title ?? name,
      hint: hintOf(schema, times),
      schema,
      values: entered?.getAll(PREFIX + name) ?? defaults(schema, times),
      fault: faults?.get(name),
    };
    return fieldHtml(control, required.includes(name));
  });
}

/** Returns the name of the field at a pointer into the content of an answer. */
export const nameAt = (pointer: string): string =>
  (pointer.split("/")[2] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");

interface Control {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly schema: FieldSchema;
  readonly values: readonly string[];
  readonly fault: string | undefined;
}

function fieldHtml(field: Control, isRequired: boolean): Html {
  const { id, label, hint, schema, fault } = field;
  const notes = html`${hint && html`<small id="${id}-hint" class="muted">${hint}</small>`}${fault && html`<small id="${id}-fault" class="fault">${label} ${fault}.</small>`}`;
  const ids = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ");
  const attributes = html`${ids && html` aria-describedby="${ids}"`}${fault && html` aria-invalid="true"`}`;
  const marked = html`${label}${!isRequired && schema.type !== "boolean" && html` <span class="muted">(optional)</span>`}`;
  if (schema.type === "array") return choices(field, marked, notes, attributes);
  if (schema.type === "boolean") {
    return html`<div class="field"><div class="choice"><input type="checkbox" id="${id}" name="${field.name}" value="true"${field.values.includes("true") && html` checked`}${attributes}><label for="${id}">${marked}</label></div>${notes}</div>`;
  }
  const rest = html`${isRequired && html` required`}${attributes}`;
  return html`<div class="field"><label for="${id}">${marked}</label>${single(field, rest)}${notes}</div>`;
}

function hintOf({ description, format }: FieldSchema, { zone }: Times): string | undefined {
  if (format !== "date-time" || !zone) return description;
  return description ? `${description} (${zone})` : zone.replace(/^./, (first) => first.toUpperCase());
}

function single({ id, name, schema, values }: Control, rest: Html): Html {
  const [value = ""] = values;
  const options = optionsOf(schema);
  if (options) {
    const rows = options.map(
      (one) => html`<option value="${one.const}"${one.const === value && html` selected`}>${one.title}</option>`,
    );
    return html`<select id="${id}" name="${name}"${rest}><option value="">Choose…</option>${rows}</select>`;
  }
  const { minLength, maxLength, minimum, maximum } = schema;
  const limits = html`${limit("minlength", minLength)}${limit("maxlength", maxLength)}${limit("min", minimum)}${limit("max", maximum)}`;
  if (isLong(schema))
    return html`<textarea id="${id}" name="${name}" rows="5"${limits}${rest}>
${value}</textarea>`;
  const step = schema.type === "number" ? "any" : schema.type === "integer" ? "1" : undefined;
  return html`<input id="${id}" name="${name}" type="${inputType(schema)}" value="${value}"${limits}${step && html` step="${step}"`}${rest}>`;
}

function choices({ name, schema, values }: Control, label: Html, notes: Html, attributes: Html): Html {
  const rows = (optionsOf(schema) ?? []).map(
    (one) =>
      html`<label class="choice"><input type="checkbox" name="${name}" value="${one.const}"${values.includes(one.const) && html` checked`}>${one.title}</label>`,
  );
  return html`<fieldset${attributes}><legend>${label}</legend>${rows}${notes}</fieldset>`;
}

const limit = (name: string, value: number | undefined): Html | undefined =>
  value === undefined ? undefined : html` ${name}="${value}"`;

/** Strings that may have more characters get several lines. */
const MAX_LINE_CHARS = 200;

const isLong = ({ type, format, maxLength = 0 }: FieldSchema): boolean =>
  type === "string" && format === undefined && maxLength > MAX_LINE_CHARS;

function inputType({ type, format }: FieldSchema): string {
  if (type !== "string") return "number";
  return { email: "email", uri: "url", date: "date", "date-time": "datetime-local", none: "text" }[format ?? "none"];
}

function optionsOf({ enum: values, enumNames, oneOf, items }: FieldSchema) {
  const titled = oneOf ?? items?.anyOf;
  if (titled) return titled;
  return (values ?? items?.enum)?.map((value, i) => ({ const: value, title: enumNames?.[i] ?? value }));
}

function defaults({ default: value, format }: FieldSchema, times: Times): string[] {
  if (value === undefined) return [];
  if (format === "date-time") return [times.toInput(new Date(String(value)))];
  return [value].flat().map(String);
}

/** Returns the content that a person has entered. What does not fit is left for the check of the content. */
export function contentOf(
  { properties, required = [] }: FormSchema,
  submitted: Submitted,
  times: Times,
): Record<string, unknown> {
  const entries = Object.entries(properties).flatMap(([name, schema]): [string, unknown][] => {
    const values = submitted.getAll(PREFIX + name);
    const value = enteredValue(schema, values, { isRequired: required.includes(name), times });
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

function enteredValue(
  { type, format }: FieldSchema,
  values: readonly string[],
  { isRequired, times }: { readonly isRequired: boolean; readonly times: Times },
): unknown {
  const [text = ""] = values;
  if (type === "boolean") return values.length > 0;
  if (type === "array") return values.length > 0 || isRequired ? values : undefined;
  if (text === "") return undefined;
  if (type !== "string") return decimalOf(text, type) ?? text;
  if (format === "date-time") return times.fromInput(text);
  return text.replaceAll("\r\n", "\n");
}

/** Returns what was entered, for people: each field with its title and the titles of its choices. */
export function enteredRows(
  { properties }: FormSchema,
  content: Record<string, unknown>,
): { title: string; value: string }[] {
  return Object.entries(content).map(([name, value]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const options = new Map((schema && optionsOf(schema))?.map((one) => [one.const, one.title]));
    const shown = [value]
      .flat()
      .map((one) => (typeof one === "boolean" ? (one ? "yes" : "no") : (options.get(String(one)) ?? String(one))));
    return { title: schema?.title ?? name, value: shown.join(", ") || "none" };
  });
}
