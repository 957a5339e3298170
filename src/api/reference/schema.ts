import { type Html, html } from "../../shared/text/html.ts";
import type { Schema } from "./document.ts";
import { described } from "./markdown.ts";

/** Returns the id of the section of a named schema. */
export const schemaId = (name: string): string => `schema-${name}`;

/** Returns the name of the schema that a reference leads to; empty for another schema. */
export const nameOf = ({ $ref = "" }: Schema): string => $ref.slice($ref.lastIndexOf("/") + 1);

/** Returns the fields of a schema with their types and descriptions, or its type if it has no fields of its own. */
export function shape(schema: Schema): Html {
  if (schema.$ref !== undefined) return html`<p class="type">${typeOf(schema)}</p>`;
  return html`${described(schema.description)}${inner(schema) ?? html`<p class="type">${typeOf(schema)}</p>`}`;
}

/** Returns the fields inside a schema: those of an object, of the items of a list, or of each alternative. */
function inner(schema: Schema): Html | undefined {
  if (schema.items) return inner(schema.items);
  const alternatives = alternativesOf(schema).flatMap((one) => inner(one) ?? []);
  if (alternatives.length > 0) return html`${alternatives}`;
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return undefined;
  return html`<dl class="fields">
${fields.map(([name, field]) => describeField(name, field, schema.required?.includes(name) ?? false))}</dl>
`;
}

/** Returns a field or parameter as an entry of a description list. */
export const describeField = (name: string, schema: Schema, required: boolean, description = schema.description) =>
  html`<div><dt><code>${name}</code> <span class="type">${typeOf(schema)}</span>${required && html` <span class="required">required</span>`}</dt>
<dd>${described(description)}${limits(schema)}${inner(schema)}</dd></div>
`;

/** Returns the type of a schema in words, with links to named schemas. */
function typeOf(schema: Schema): Html {
  const { items, type } = schema;
  const name = nameOf(schema);
  if (name !== "") return html`<a href="#${schemaId(name)}">${name}</a>`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) return joined(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`));
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return joined(alternatives.map(typeOf));
  if (items) return html`list of ${typeOf(items)}`;
  return html`${[type ?? "any value"].flat().join(" or ")}`;
}

/** Joins types with "or", each of them once. */
function joined(types: readonly Html[]): Html {
  const distinct = [...new Map(types.map((type) => [type.text, type])).values()];
  return html`${distinct.map((type, i) => (i === 0 ? type : html` or ${type}`))}`;
}

const alternativesOf = ({ anyOf, oneOf }: Schema): readonly Schema[] => anyOf ?? oneOf ?? [];

/** Returns the limits of a value as a sentence without a verb: `At most 256 characters.` */
function limits(schema: Schema): Html | undefined {
  const { minimum, maximum, minLength, maxLength, maxItems, format } = schema;
  const all = [
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
    minLength !== undefined && minLength > 1 && `at least ${minLength} characters`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    maxItems !== undefined && `at most ${maxItems} items`,
    format !== undefined && `format ${format}`,
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ].filter((limit) => limit !== false);
  const text = all.join(", ");
  return text === "" ? undefined : html`<p class="limits">${text.charAt(0).toUpperCase()}${text.slice(1)}.</p>`;
}
