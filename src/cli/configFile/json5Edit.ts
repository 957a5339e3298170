import { isDeepStrictEqual } from "node:util";
import {
  type ArrayExpression,
  type Expression,
  type ObjectExpression,
  type Property,
  parseExpressionAt,
  type Token,
} from "acorn";
import JSON5 from "json5";

/**
 * Sets the value at `path`, creating missing objects on the way, or removes the key if the value is undefined. A number is
 * an index of an array; the array's length appends an element.
 */
export interface Json5Edit {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/**
 * Changes values of a JSON5 text and keeps every other byte, comments included. JSON5 is a subset of ECMAScript, so acorn
 * finds the position of each value and comma.
 * @throws Error if the result would not have exactly the desired values; SyntaxError if the text is not JSON5
 */
export function editJson5(text: string, edits: readonly Json5Edit[]): string {
  const expected = JSON5.parse(text);
  for (const edit of edits) setValue(expected, edit);
  const edited = edits.reduce(editOnce, text);
  if (!isDeepStrictEqual(JSON5.parse(edited), expected))
    throw new Error("the edited text does not have the desired values");
  return edited;
}

type Container = ObjectExpression | ArrayExpression;
type Json = Record<string | number, unknown>;

function editOnce(text: string, { path, value }: Json5Edit): string {
  const tokens: Token[] = [];
  let node = parseExpressionAt(text, 0, { ecmaVersion: 2022, onToken: tokens });
  for (const [i, key] of path.entries()) {
    const entry = find(node, key);
    const rest = path.slice(i + 1);
    if (!entry) return value === undefined ? text : insert(text, tokens, node as Container, key, nested(rest, value));
    // Repeats for another property with the same key.
    if (rest.length === 0 && value === undefined) return editOnce(remove(text, tokens, entry), { path, value });
    node = entry.type === "Property" ? entry.value : entry;
  }
  const end = startOfLine(text, node.start);
  return splice(text, [node.start, node.end, literal(value, styleOf(text, tokens), indentAt(text, end))]);
}

/** Returns the value of a key; the last one if the key occurs twice. */
function find(node: Expression, key: string | number): Property | Expression | undefined {
  if (node.type === "ArrayExpression" && typeof key === "number") return node.elements[key] as Expression | undefined;
  if (node.type !== "ObjectExpression") throw new Error(`${key} cannot be added`);
  const properties = node.properties as Property[];
  return properties.findLast((property) => nameOf(property) === key);
}

const nameOf = ({ key }: Property) => (key.type === "Identifier" ? key.name : (key as { value?: unknown }).value);

function nested(path: readonly (string | number)[], value: unknown): unknown {
  return path.reduceRight((inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }), value);
}

/** Appends an entry to an object or an array, after the comments at its end. */
function insert(text: string, tokens: readonly Token[], to: Container, key: string | number, value: unknown): string {
  const style = styleOf(text, tokens);
  const last = (to.type === "ObjectExpression" ? to.properties : to.elements).at(-1);
  const hasComma = last ? isComma(tokenAfter(tokens, last.end)) : !style.isJson;
  const comma: Splice | undefined = last && !hasComma ? [last.end, last.end, ","] : undefined;
  const end = to.end - 1;
  const line = startOfLine(text, end);
  const entry = (indent?: string) => `${name(key, style)}${literal(value, style, indent)}${hasComma ? "," : ""}`;

  if (line > to.start && isBlank(text.slice(line, end))) {
    const first = (to.type === "ObjectExpression" ? to.properties : to.elements)[0];
    const firstLine = startOfLine(text, first?.start ?? 0);
    const isOnItsOwn = first && firstLine > to.start && isBlank(text.slice(firstLine, first.start));
    const indent = isOnItsOwn ? text.slice(firstLine, first.start) : `${text.slice(line, end)}${style.unit}`;
    return splice(text, comma, [line, line, `${indent}${entry(indent)}${style.eol}`]);
  }
  const inside = text.slice(to.start + 1, end);
  if (isBlank(inside) && to.type === "ObjectExpression") {
    const outer = indentAt(text, startOfLine(text, to.start));
    const indent = `${outer}${style.unit}`;
    return splice(text, [to.start + 1, end, `${style.eol}${indent}${entry(indent)}${style.eol}${outer}`]);
  }
  const at = to.start + 1 + inside.trimEnd().length;
  return splice(text, comma, [
    at,
    at,
    `${isBlank(inside) ? "" : " "}${isBlank(inside) ? literal(value, style) : entry()}`,
  ]);
}

/** Removes an entry with the comma after it, and with its line if nothing else is on that. */
function remove(text: string, tokens: readonly Token[], { start, end }: { start: number; end: number }): string {
  const after = tokenAfter(tokens, end);
  const comma: Splice | undefined = isComma(after) && after ? [after.start, after.end, ""] : undefined;
  const without = splice(text, [start, end, ""], comma);
  const line = startOfLine(without, start);
  const rest = /^[^\n\r\u2028\u2029]*(\r\n|[\n\r\u2028\u2029])?/.exec(without.slice(start))?.[0] ?? "";
  const isAlone = line > 0 && isBlank(without.slice(line, start) + rest);
  return isAlone ? splice(without, [line, start + rest.length, ""]) : without;
}

interface Style {
  readonly isJson: boolean;
  readonly quote: string;
  readonly unit: string;
  readonly eol: string;
}

/** Returns the style for new values, derived from the existing text. */
function styleOf(text: string, tokens: readonly Token[]): Style {
  const strings = tokens.filter(({ type }) => type.label === "string");
  const single = strings.filter(({ start }) => text[start] === "'");
  const quote = single.length > strings.length / 2 ? "'" : '"';
  const isJson = single.length === 0 && strings.length > 0 && tokens[1] === strings[0];
  const first = tokens[1]?.start ?? 0;
  const unit = /^[ \t]+$/.exec(text.slice(startOfLine(text, first), first))?.[0] ?? "  ";
  return { isJson, quote, unit, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** Returns the source of a value. @param indent of the line on which it begins; without it everything is on one line */
function literal(value: unknown, style: Style, indent?: string): string {
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, style)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON5.stringify(value, { quote: style.quote });
  const inner = indent === undefined ? undefined : `${indent}${style.unit}`;
  const entries = Object.entries(value).map(([key, item]) => `${name(key, style)}${literal(item, style, inner)}`);
  if (entries.length === 0) return "{}";
  if (inner === undefined) return `{ ${entries.join(", ")} }`;
  const lines = entries.map((entry) => `${style.eol}${inner}${entry}`);
  return `{${lines.join(",")}${style.isJson ? "" : ","}${style.eol}${indent}}`;
}

/** Returns the source of a key with its colon; empty for an element of an array. */
function name(key: string | number, { isJson, quote }: Style): string {
  if (typeof key === "number") return "";
  return `${!isJson && /^[A-Za-z_]\w*$/.test(key) ? key : JSON5.stringify(key, { quote })}: `;
}

type Splice = readonly [start: number, end: number, text: string];

/** Applies the splices. Splices at the same position keep their order. */
function splice(text: string, ...splices: (Splice | undefined)[]): string {
  const backwards = splices
    .filter((one) => one !== undefined)
    .reverse()
    .sort(([a], [b]) => b - a);
  return backwards.reduce((left, [start, end, put]) => `${left.slice(0, start)}${put}${left.slice(end)}`, text);
}

const tokenAfter = (tokens: readonly Token[], at: number) => tokens.find(({ start }) => start >= at);
const isComma = (token: Token | undefined) => token?.type.label === ",";
const isBlank = (text: string) => /^\s*$/.test(text);
const startOfLine = (text: string, at: number) =>
  /(?<![^\n\r\u2028\u2029])[^\n\r\u2028\u2029]*$/.exec(text.slice(0, at))?.index ?? 0;
const indentAt = (text: string, line: number) => /^[ \t]*/.exec(text.slice(line))?.[0] ?? "";

function setValue(root: Json, { path, value }: Json5Edit): void {
  const parent = path.slice(0, -1).reduce<Json>((at, key, i) => {
    at[key] ??= typeof path[i + 1] === "number" ? [] : {};
    return at[key] as Json;
  }, root);
  const last = path.at(-1) ?? "";
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}
