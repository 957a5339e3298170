import { definitionOf, isOptional, type Language, type Published, type Shape, typeOf, wrap } from "./shapes.ts";

const LINE_WIDTH = 120;

/** Returns the module of the Python client that declares the records. */
export function pythonModule(types: readonly Published[], names: ReadonlyMap<string, string>): string {
  const head = [
    '"""',
    "The records that the service returns. Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with",
    "milliseconds.",
    '"""',
    "",
    "from __future__ import annotations",
    "",
    "from typing import Any, Literal, TypedDict",
  ];
  const isAlias = ({ schema }: Published) => !(schema as Shape).properties;
  const aliases = types.filter(isAlias).map((one) => alias(one, names));
  const classes = types.filter((one) => !isAlias(one)).map((one) => typedDict(one, names));
  return `${head.join("\n")}\n\n${aliases.join("\n")}\n\n\n${classes.join("\n\n\n")}\n`;
}

const LANGUAGE: Language = {
  scalars: { string: "str", number: "float", integer: "int", boolean: "bool", null: "None" },
  free: "dict[str, Any]",
  unknown: "Any",
  literal: (values) => `Literal[${values.map(literal).join(", ")}]`,
  list: (item) => `list[${item}]`,
  object: () => "dict[str, Any]",
};

const literal = (value: string | number | boolean): string =>
  typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);

function alias({ name, schema, about }: Published, names: ReadonlyMap<string, string>): string {
  return `#: ${about}\n${name} = ${definitionOf(schema as Shape, names, LANGUAGE)}`;
}

/** Returns a class, after one with the fields that are always present if others are not. */
function typedDict({ name, schema, about, partial = false }: Published, names: ReadonlyMap<string, string>): string {
  const shape = schema as Shape;
  const fields = Object.entries(shape.properties ?? {});
  const optional = fields.filter(([field]) => isOptional(shape, field));
  const body = (some: typeof fields) => some.flatMap((one) => fieldLines(one, names)).join("\n");
  const doc = `    """${about}"""\n`;
  if (partial) return `class ${name}(TypedDict, total=False):\n${doc}\n${body(fields)}`;
  if (optional.length === 0) return `class ${name}(TypedDict):\n${doc}\n${body(fields)}`;
  const always = fields.filter(([field]) => !isOptional(shape, field));
  return `class _${name}(TypedDict):\n${body(always)}\n\n\nclass ${name}(_${name}, total=False):\n${doc}\n${body(optional)}`;
}

function fieldLines([field, shape]: [string, Shape], names: ReadonlyMap<string, string>): string[] {
  const comment = shape.description === undefined ? [] : wrap(shape.description, LINE_WIDTH - 7);
  return [...comment.map((line) => `    #: ${line}`), `    ${field}: ${typeOf(shape, names, LANGUAGE)}`];
}
