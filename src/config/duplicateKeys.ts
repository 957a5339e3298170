import { type Expression, type Property, parseExpressionAt } from "acorn";

/** A key that an object of the file has twice. */
export interface DuplicateKey {
  /** The dotted key, such as `hooks.mappings.0.id`. */
  readonly key: string;
  /** The lines of the first two, for people: `line 3`, or `lines 3 and 12`. */
  readonly lines: string;
}

/**
 * Returns the keys that occur twice in one object of a JSON5 text, of which a parser keeps only the last. JSON5 is a subset
 * of ECMAScript, so acorn reads it; returns nothing for a text that is not JSON5.
 */
export function findDuplicateKeys(text: string): DuplicateKey[] {
  try {
    return duplicatesIn(parseExpressionAt(text, 0, { ecmaVersion: 2022, locations: true }), []);
  } catch {
    return []; // the parser of JSON5 reports the fault
  }
}

function duplicatesIn(node: Expression, path: readonly string[]): DuplicateKey[] {
  if (node.type === "ArrayExpression") {
    return node.elements.flatMap((item, i) => (item ? duplicatesIn(item as Expression, [...path, String(i)]) : []));
  }
  if (node.type !== "ObjectExpression") return [];
  const properties = node.properties as Property[];
  const byName = Map.groupBy(properties, nameOf);
  const twice = [...byName].flatMap(([name, [first, second]]) =>
    first && second ? [{ key: [...path, name].join("."), lines: linesOf(first, second) }] : [],
  );
  return [...twice, ...properties.flatMap((one) => duplicatesIn(one.value, [...path, nameOf(one)]))];
}

const nameOf = ({ key }: Property): string =>
  key.type === "Identifier" ? key.name : String((key as { value?: unknown }).value);

function linesOf(first: Property, second: Property): string {
  const [a, b] = [first, second].map(({ loc }) => loc?.start.line);
  return a === b ? `line ${a}` : `lines ${a} and ${b}`;
}
