import type { TSchema } from "typebox";

/** Minimum fields of a type that another type extends: fewer can be the same by chance. */
const MIN_BASE_FIELDS = 4;

/** A type that the clients publish. */
export interface Published {
  readonly name: string;
  readonly schema: TSchema;
  /** A sentence about the type, for readers of the client. */
  readonly about: string;
  /** Whether lists with `fields` return it with fewer fields. */
  readonly partial?: boolean;
  /** Whether callers write it, so that a free object may be any object. */
  readonly argument?: boolean;
}

/** The part of JSON Schema that the wire shapes use. */
export interface Shape {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: string | number | boolean;
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
}

/** How a language writes types. */
export interface Language {
  readonly scalars: Readonly<Record<string, string>>;
  readonly free: string;
  readonly unknown: string;
  literal(values: readonly (string | number | boolean)[]): string;
  list(item: string): string;
  /** A type without a name of its own. */
  object(shape: Shape): string;
}

/** Returns the type of a shape. A shape whose title is in `names` is referred to by that name. */
export function typeOf(shape: Shape, names: ReadonlyMap<string, string>, language: Language): string {
  const name = shape.title === undefined ? undefined : names.get(shape.title);
  return name ?? definitionOf(shape, names, language);
}

/** Returns the type of a shape, whether or not it has a name. @throws Error for a shape that no client can express */
export function definitionOf(shape: Shape, names: ReadonlyMap<string, string>, language: Language): string {
  const { type, anyOf, items } = shape;
  if (anyOf) return anyOf.map((one) => typeOf(one, names, language)).join(" | ");
  if (shape.enum) return language.literal(shape.enum);
  if (shape.const !== undefined) return language.literal([shape.const]);
  if (type === "array" && items) return language.list(typeOf(items, names, language));
  if (type === "object") return shape.properties ? language.object(shape) : language.free;
  if (type !== undefined && language.scalars[type] !== undefined) return language.scalars[type];
  if (type === undefined) return language.unknown;
  throw new Error(`no client type for the schema ${JSON.stringify(shape)}`);
}

/** Returns the largest of the types whose fields another type has too, unchanged; undefined if there is none. */
export function baseOf({ name, schema }: Published, types: readonly Published[]): Published | undefined {
  const own = fieldsOf(schema);
  return types
    .filter((one) => one.name !== name && isPartOf(fieldsOf(one.schema), own))
    .toSorted((one, other) => fieldsOf(other.schema).size - fieldsOf(one.schema).size)[0];
}

const isPartOf = (some: ReadonlySet<string>, all: ReadonlySet<string>): boolean =>
  some.size >= MIN_BASE_FIELDS && some.size < all.size && [...some].every((field) => all.has(field));

/** Returns the fields of a schema as texts that are equal for equal fields. */
function fieldsOf(schema: TSchema): ReadonlySet<string> {
  const shape = schema as Shape;
  const fields = Object.entries(shape.properties ?? {});
  return new Set(fields.map(([name, field]) => JSON.stringify([name, isOptional(shape, name), field])));
}

export const isOptional = ({ required = [] }: Shape, field: string): boolean => !required.includes(field);

/** Breaks a text into lines of at most so many characters. */
export function wrap(text: string, maxChars: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= maxChars) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
