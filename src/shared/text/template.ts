/** A parsed template, which can be rendered any number of times. */
export type Template = readonly (string | Reference)[];

/** The root of a path, and the keys that lead from it to the value. */
export interface Reference {
  readonly root: "payload" | "headers" | "query" | "path" | "now" | "item";
  readonly keys: readonly string[];
  /** Whether the value is inserted as it is, also where others are escaped: it is written `{{{…}}}`. */
  readonly isRaw?: true;
}

/** The values that a template can refer to. */
export interface TemplateScope {
  readonly payload: unknown;
  /** Keyed by lower-case name. Headers that a template must not see, such as the sender's token, are left out. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parameters that a template must not see are left out. */
  readonly query: Readonly<Record<string, string | string[] | undefined>>;
  readonly path: string;
  readonly now: Date;
  /** The item of a forEach. Without it, `item` is an ordinary key of the body. */
  readonly item?: { readonly value: unknown } | undefined;
}

/** A template that cannot be parsed. The message has the position, the fault and the remedy. */
export class TemplateError extends Error {
  constructor(text: string, at: number, problem: string) {
    const before = text.slice(0, at).split("\n");
    super(`line ${before.length}, column ${(before.at(-1) as string).length + 1}: ${problem}`);
    this.name = "TemplateError";
  }
}

const SPACE = /\s*/y;
const NAME = /[\p{L}\p{M}\p{N}_$-]+/uy;
const INDEX = /\[(0|[1-9]\d*)\]/y;
const QUOTED = /"([^"]*)"|'([^']*)'/y;

/**
 * Parses a template: text in which `{{…}}` stands for a value.
 *
 * - `{{a.b[0].c}}` and `{{payload.a}}` refer to the body, `{{payload}}` is the whole body. Names consist of letters, digits,
 *   `_`, `-` and `$`; any other key is written `["any key"]` or `['any key']`.
 * - `{{headers.x}}` (in any case), `{{query.x}}`, `{{path}}` and `{{now}}` (ISO 8601, UTC) refer to the request,
 *   `{{item.x}}` and `{{item}}` to the item of a forEach. These words take precedence over keys of the body, which are
 *   then written `payload.headers` or `["headers"]`. `path` and `now` have no parts, so `{{path.x}}` refers to the body.
 * - `{{"…"}}` is a literal text: two literal braces are written `{{"{{"}}`.
 *
 * White space just inside the braces is ignored. Single braces and a lone `}}` are text.
 * @param options.hasRaw whether `{{{…}}}` stands for a value that is not escaped
 * @throws TemplateError
 */
export function parseTemplate(text: string, { hasRaw = false } = {}): Template {
  const parts: (string | Reference)[] = [];
  let at = 0;
  for (;;) {
    const open = text.indexOf("{{", at);
    if (open < 0) break;
    parts.push(text.slice(at, open));
    const isRaw = hasRaw && text.startsWith("{{{", open);
    const expression = new Expression(text, isRaw ? open + 1 : open);
    const part = expression.read();
    parts.push(isRaw && typeof part !== "string" ? { ...part, isRaw } : part);
    at = isRaw && text[expression.end] === "}" ? expression.end + 1 : expression.end;
  }
  parts.push(text.slice(at));
  return parts.filter((part) => part !== "");
}

/** Parses one path as it stands between the braces of a template, such as `payload.a[0]`. @throws TemplateError */
export function parsePath(path: string): Reference {
  const part = new Expression(`{{${path}}}`, 0).read();
  if (typeof part !== "string") return part;
  throw new TemplateError(path, 0, "a text in quotation marks is not a path: write one such as payload.title");
}

/** Parses the expression between one pair of braces. */
class Expression {
  readonly #text: string;
  readonly #open: number;
  /** The index of the next character to read. After `read` it is behind the closing braces. */
  end: number;

  constructor(text: string, open: number) {
    this.#text = text;
    this.#open = open;
    this.end = open + 2;
  }

  read(): string | Reference {
    this.#take(SPACE);
    const literal = this.#take(QUOTED);
    const part = literal ? (literal[1] ?? literal[2] ?? "") : this.#path();
    this.#take(SPACE);
    if (!this.#text.startsWith("}}", this.end)) throw this.#unexpected();
    this.end += 2;
    return part;
  }

  #path(): Reference {
    if (this.#text.startsWith("}}", this.end)) {
      throw this.#error("the braces are empty: write a path between them, such as {{payload.title}}");
    }
    const first = this.#take(NAME)?.[0];
    const keys: string[] = [];
    if (first === undefined) {
      const key = this.#bracket();
      if (key === undefined) throw this.#unexpected();
      keys.push(key);
    }
    for (;;) {
      const key = this.#skip(".") ? this.#name() : this.#bracket();
      if (key === undefined) return reference(first, keys);
      keys.push(key);
    }
  }

  #name(): string {
    const name = this.#take(NAME)?.[0];
    if (name !== undefined) return name;
    throw this.#error('a name must follow the dot; any other key is written without a dot, such as a["any key"]');
  }

  #bracket(): string | undefined {
    const index = this.#take(INDEX)?.[1];
    if (index !== undefined || !this.#skip("[")) return index;
    const key = this.#take(QUOTED);
    if (key && this.#skip("]")) return key[1] ?? key[2] ?? "";
    throw this.#error('brackets take an index such as [0], or a key in quotation marks such as ["any key"]');
  }

  /** Returns an error about the next character. */
  #unexpected(): TemplateError {
    if (!this.#text.includes("}}", this.end)) {
      return this.#error(
        'these braces are never closed: write }} behind the path, or {{"{{"}} for two braces as text',
        this.#open,
      );
    }
    const found = String.fromCodePoint(this.#text.codePointAt(this.end) as number);
    return this.#error(
      `${JSON.stringify(found)} cannot stand here: between {{ and }} write one path such as a.b[0]["any key"], and nothing else`,
    );
  }

  /** Matches a sticky pattern at the current index and moves behind the match; null when it does not match. */
  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.end;
    const match = pattern.exec(this.#text);
    if (match) this.end = pattern.lastIndex;
    return match;
  }

  #skip(char: string): boolean {
    const found = this.#text[this.end] === char;
    if (found) this.end += 1;
    return found;
  }

  #error(problem: string, at = this.end): TemplateError {
    return new TemplateError(this.#text, at, problem);
  }
}

/** Only a plain first name can be a reserved word. A path that begins with brackets has none. */
function reference(first: string | undefined, keys: readonly string[]): Reference {
  switch (first) {
    case undefined:
      return { root: "payload", keys };
    case "payload":
    case "query":
    case "item":
      return { root: first, keys };
    case "headers":
      return { root: first, keys: keys.map((key, i) => (i === 0 ? key.toLowerCase() : key)) };
    case "path":
    case "now":
      if (keys.length === 0) return { root: first, keys };
  }
  return { root: "payload", keys: [first, ...keys] };
}

/**
 * Renders a template. Strings are inserted as they are and never parsed as templates; objects and arrays are inserted as
 * JSON. Only own properties are looked up, and in arrays only items. A missing value or null becomes the empty string.
 * `missing` is true when any value was missing, null or the empty string.
 */
export function renderTemplate(
  template: Template,
  scope: TemplateScope,
  escapeText: (text: string, reference: Reference) => string = (text) => text,
): { text: string; missing: boolean } {
  let missing = false;
  const texts = template.map((part) => {
    if (typeof part === "string") return part;
    const text = toText(lookUp(part, scope));
    if (text === "") missing = true;
    return part.isRaw ? text : escapeText(text, part);
  });
  return { text: texts.join(""), missing };
}

/** Returns the value that a path refers to; undefined if it is missing. */
export function lookUp({ root, keys }: Reference, scope: TemplateScope): unknown {
  switch (root) {
    case "now":
      return scope.now.toISOString();
    case "item":
      return scope.item ? descend(scope.item.value, keys) : descend(scope.payload, ["item", ...keys]);
    default:
      return descend(scope[root], keys);
  }
}

function descend(from: unknown, keys: readonly string[]): unknown {
  let value = from;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    // JSON.parse can create an own property `__proto__`, which no honest sender needs.
    if (key === "__proto__" || (Array.isArray(value) && key === "length")) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return String(value);
  try {
    return JSON.stringify(value);
  } catch (error) {
    // JSON.parse accepts a value nested some thousand levels deep, JSON.stringify does not.
    if (error instanceof RangeError) return "";
    throw error;
  }
}
