import type { TSchema } from "typebox";

/** A type that the clients publish. */
export interface Published {
  readonly name: string;
  readonly schema: TSchema;
  /** What the type is, in a sentence, for readers of the client. */
  readonly about: string;
  /** Whether lists with `fields` return it with fewer fields. */
  readonly partial?: boolean;
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
