/** Keywords of OpenAPI and JSON Schema that are written for people. */
const WORDS = new Set(["title", "description", "summary", "example", "examples"]);

/** Keywords whose values have names as keys: a property may be called `title`. */
const MAPS = new Set([
  ...["properties", "patternProperties", "dependentSchemas", "$defs"],
  ...["paths", "parameters", "responses", "content", "headers", "links", "callbacks", "variables"],
  ...["schemas", "requestBodies", "securitySchemes", "scopes", "mapping"],
]);

/** Keywords whose values are data. */
const DATA = new Set(["default", "const", "enum"]);

/** Copies an OpenAPI document or a JSON Schema without the words in it, such as titles, descriptions and summaries. */
export function withoutWords(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutWords);
  if (!isObject(node)) return node;
  const kept = Object.entries(node).filter(([keyword]) => !WORDS.has(keyword));
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, valueWithoutWords(keyword, value)]));
}

function valueWithoutWords(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value;
  if (!MAPS.has(keyword) || !isObject(value)) return withoutWords(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutWords(part)]));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
