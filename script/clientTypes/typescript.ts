import { baseOf, definitionOf, isOptional, type Language, type Published, type Shape, typeOf, wrap } from "./shapes.ts";

const LINE_WIDTH = 120;

/** The title of the schema of any JSON object. */
const FREE_OBJECT = "JsonObject";

/** Returns a file of the JavaScript client: one exported type for each that is published. */
export function typescriptFile(
  types: readonly Published[],
  names: ReadonlyMap<string, string>,
  imports: Readonly<Record<string, string>>,
): string {
  const own = types.map(({ name }) => name);
  const named = new Map([...names].filter(([title]) => title !== FREE_OBJECT));
  const returned = { names, language: languageOf(names) };
  const taken = { names: named, language: languageOf(named, "object") };
  const blocks = types.map((one) => declaration(one, types, one.argument ? taken : returned));
  const body = blocks.join("\n\n");
  const used = Object.entries(imports)
    .filter(([name]) => !own.includes(name) && new RegExp(`\\b${name}\\b`).test(body.replaceAll(/\/\*\*.*?\*\//gs, "")))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const byFile = Map.groupBy(used, ([, file]) => file);
  const lines = [...byFile]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, found]) => `import type { ${found.map(([name]) => name).join(", ")} } from "./${file}";`);
  const head = "/** Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with milliseconds. */";
  return `${[...lines, ...(lines.length > 0 ? [""] : []), head].join("\n")}\n\n${body}\n`;
}

function languageOf(names: ReadonlyMap<string, string>, free = "Record<string, unknown>"): Language {
  const language: Language = {
    scalars: { string: "string", number: "number", integer: "number", boolean: "boolean", null: "null" },
    free,
    unknown: "unknown",
    literal: (values) => values.map((value) => JSON.stringify(value)).join(" | "),
    list: (item) => (item.includes(" | ") ? `(${item})[]` : `${item}[]`),
    object: (shape) => {
      const fields = Object.entries(shape.properties ?? {});
      const texts = fields.map(
        ([name, field]) => `${name}${isOptional(shape, name) ? "?" : ""}: ${typeOf(field, names, language)}`,
      );
      return `{ ${texts.join("; ")} }`;
    },
  };
  return language;
}

function declaration(
  published: Published,
  types: readonly Published[],
  { names, language }: { readonly names: ReadonlyMap<string, string>; readonly language: Language },
): string {
  const { name, schema, about } = published;
  const shape = schema as Shape;
  const comment = commentOf(about, "");
  if (!shape.properties) {
    const type = definitionOf(shape, names, language);
    return `${comment}\n${fitted(`export type ${name} =`, type, "")}`;
  }
  const base = baseOf(published, types);
  const inherited = (base?.schema as Shape | undefined)?.properties ?? {};
  const own = Object.entries(shape.properties).filter(([field]) => !(field in inherited));
  const fields = own.flatMap(([field, one]) => {
    const declared = fitted(`  ${field}${isOptional(shape, field) ? "?" : ""}:`, typeOf(one, names, language), "  ");
    return one.description === undefined ? [declared] : [commentOf(one.description, "  "), declared];
  });
  return `${comment}\nexport interface ${name}${base ? ` extends ${base.name}` : ""} {\n${fields.join("\n")}\n}`;
}

/** Returns a declaration on one line, or with each field of its object or each member of its union on a line of its own. */
function fitted(start: string, type: string, indent: string): string {
  const line = `${start} ${type};`;
  if (line.length <= LINE_WIDTH) return line;
  const [, fields, orNull = ""] = /^\{ ([^{}]*) \}( \| null)?$/.exec(type) ?? [];
  if (fields !== undefined) {
    const lines = fields.split("; ").map((field) => `${indent}  ${field};`);
    return [`${start} {`, ...lines, `${indent}}${orNull};`].join("\n");
  }
  return `${start}\n${type
    .split(" | ")
    .map((member) => `${indent}  | ${member}`)
    .join("\n")};`;
}

function commentOf(text: string, indent: string): string {
  const line = `${indent}/** ${text} */`;
  if (line.length <= LINE_WIDTH) return line;
  const lines = wrap(text, LINE_WIDTH - indent.length - 3);
  return [`${indent}/**`, ...lines.map((one) => `${indent} * ${one}`), `${indent} */`].join("\n");
}
