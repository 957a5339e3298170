/** A value in a JSON document, with the expression that leads to it. */
export interface JsonEntry {
  readonly path: string;
  /** The name of the field, or the index of the item; null for the whole document. */
  readonly name: string | number | null;
  readonly value: unknown;
}

/** Returns the path of a field or an item, such as `.steps[0]["a key"]`, as JavaScript and jq read it. */
function pathTo(path: string, name: string | number): string {
  if (typeof name === "number") return `${path}[${name}]`;
  return /^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

export const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Returns the fields of an object or the items of a list, at most `limit`. */
export function entriesOf(value: object, path: string, limit: number): JsonEntry[] {
  const isList = Array.isArray(value);
  const names: readonly (string | number)[] = isList
    ? Array.from({ length: Math.min(limit, value.length) }, (_, index) => index)
    : Object.keys(value).slice(0, limit);
  return names.map((name) => ({
    name,
    path: pathTo(path, name),
    value: (value as Record<string | number, unknown>)[name],
  }));
}

/** Returns the number of fields or items. */
export const sizeOf = (value: object): number => (Array.isArray(value) ? value.length : Object.keys(value).length);

/** Returns the entries whose name or value contains a text in any case, in the order of the document, at most `limit`. */
export function searchJson(document: unknown, text: string, limit: number): JsonEntry[] {
  const wanted = text.toLowerCase();
  const contains = (part: unknown) => String(part).toLowerCase().includes(wanted);
  const found: JsonEntry[] = [];
  // A stack instead of recursion: a document may be nested deeper than the calls of a browser.
  const open: JsonEntry[] = [{ path: "", name: null, value: document }];
  for (let entry = open.pop(); entry && found.length < limit; entry = open.pop()) {
    const { name, path, value } = entry;
    const isMatch = (typeof name === "string" && contains(name)) || (!isContainer(value) && contains(value));
    if (isMatch) found.push(entry);
    if (isContainer(value)) {
      for (const inner of entriesOf(value, path, Number.POSITIVE_INFINITY).reverse()) open.push(inner);
    }
  }
  return found;
}
