import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { TObject, TSchema } from "typebox";
import { CURSOR_PATTERN } from "../../models/db/cursor.ts";
import { ID_CURSOR_PATTERN } from "../../models/db/idCursor.ts";
import { describeFault, faultyField } from "../../shared/describeFault.ts";
import { AppError, type ErrorItem } from "../../shared/errors.ts";
import { decimalOf } from "../../shared/text/decimal.ts";
import { PAGE_URL_PATTERN } from "../../shared/text/pageUrl.ts";
import { PING_STATE_PATTERN } from "../schemas/requests.ts";

const options = { allErrors: true, strict: false, verbose: true } as const;
// ajv-formats is CommonJS: its default export arrives one level deeper in the types than at run time.
const withFormats = addFormats as unknown as typeof addFormats.default;

/** Compiles a check of JSON, which converts no values. */
export const compileBody = compiler(new Ajv(options));
/** Compiles a check of values of the URL, which fills in defaults. */
const compileUrl = compiler(new Ajv({ ...options, useDefaults: true }));

/**
 * Returns a function that compiles the schemas of routes, each once: a reload of the configuration makes the schemas of the hooks
 * again, equal to the former ones, and Ajv keeps every schema that it has compiled.
 */
function compiler(ajv: Ajv): (schema: TSchema) => ValidateFunction {
  withFormats(ajv);
  const { validate: isTime } = ajv.formats["date-time"] as { validate: (text: string) => boolean };
  ajv.addFormat("date-time", (text: string) => isTime(text) && exists(text));
  const bySchema = new WeakMap<TSchema, ValidateFunction>();
  const byText = new Map<string, ValidateFunction>();
  return (schema) => {
    const known = bySchema.get(schema);
    if (known) return known;
    const text = JSON.stringify(schema);
    const validate = byText.get(text) ?? ajv.compile(schema);
    byText.set(text, validate);
    bySchema.set(schema, validate);
    return validate;
  };
}

const FIRST_MS = Date.parse("0000-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Returns whether a time can be sent in an answer: a Date has no leap seconds, and in UTC the year must have four digits. */
function exists(text: string): boolean {
  const ms = Date.parse(text);
  return ms >= FIRST_MS && ms <= LAST_MS;
}

/** Maximum faults that one response lists. */
const MAX_ERRORS = 100;

/**
 * Returns a check of a body, which throws AppError invalid_body with the JSON Pointer of each fault.
 * @param options the compiler of the schema, and the pointer of the value if it is a part of the body
 */
export function bodyCheck(schema: TSchema, { compile = compileBody, at = "" } = {}): (value: unknown) => void {
  const validate = compile(schema);
  return (value) => {
    if (validate(value)) return;
    const errors = faults(validate).map(({ error, field, detail }) => ({
      pointer: at + pointer(error, field),
      detail,
    }));
    throw new AppError("invalid_body", { detail: summary(errors), errors });
  };
}

/**
 * Returns a check of path, query or header values, which converts them in place and throws AppError invalid_query with the
 * parameter of each fault.
 */
export function urlCheck(schema: TObject): (value: unknown) => void {
  const convertValues = urlConverter(schema);
  const validate = compileUrl(schema);
  return (value) => {
    convertValues(value as Record<string, unknown>);
    if (validate(value)) return;
    const errors = faults(validate).map(({ error, field, detail }) => ({
      parameter: field ?? error.instancePath.split("/")[1] ?? "",
      detail,
    }));
    throw new AppError("invalid_query", { detail: summary(errors), errors });
  };
}

/**
 * Returns a function that converts the strings of a URL to the numbers, booleans and lists of the schema, in place. It leaves the
 * others for the check to report.
 */
function urlConverter({
  properties,
  patternProperties = {},
}: TObject & { patternProperties?: Record<string, TSchema> }) {
  const patterns = Object.entries(patternProperties).map(([pattern, one]) => [new RegExp(pattern), one] as const);
  return (values: Record<string, unknown>): void => {
    for (const [name, value] of Object.entries(values)) {
      const schema = Object.hasOwn(properties, name)
        ? properties[name]
        : patterns.find(([pattern]) => pattern.test(name))?.[1];
      if (schema) values[name] = converted(value, schema);
    }
  };
}

function converted(value: unknown, schema: TSchema): unknown {
  const { type, items } = schema as { type?: string; items?: TSchema };
  if (type === "array") return [value].flat().map((item) => converted(item, items ?? {}));
  if (typeof value !== "string") return value;
  if (type === "integer" || type === "number") return decimalOf(value, type) ?? value;
  return type === "boolean" && /^(true|false)$/.test(value) ? value === "true" : value;
}

/** Parses query parameters that match the schema of a timestamp, and leaves out those that were not sent. */
export function parseTimes<Name extends string>(
  texts: Readonly<Record<Name, string | undefined>>,
): Partial<Record<Name, Date>> {
  const times: Partial<Record<Name, Date>> = {};
  for (const [parameter, text] of Object.entries(texts) as [Name, string | undefined][]) {
    if (text !== undefined) times[parameter] = new Date(text);
  }
  return times;
}

interface Fault {
  readonly error: ErrorObject;
  /** The field that is missing or unknown; undefined for other errors. */
  readonly field: string | undefined;
  readonly detail: string;
}

/**
 * Returns the faults to report. A value that matches no schema of a union has the faults of all of them. Where it has the type of
 * one, those about the types of the others say nothing; elsewhere they are one fault, which names all types.
 */
function faults(validate: ValidateFunction): Fault[] {
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== "if");
  const unions = new Set(errors.filter(({ keyword }) => keyword === "anyOf").map(({ instancePath }) => instancePath));
  const isOfUnion = ({ keyword, instancePath }: ErrorObject) =>
    /^(anyOf|type)$/.test(keyword) && unions.has(instancePath);
  const explained = new Set(errors.flatMap((error) => pathsAbove(error.instancePath, !isOfUnion(error))));
  const types = Map.groupBy(
    errors.filter((error) => error.keyword === "type" && isOfUnion(error)),
    ({ instancePath }) => instancePath,
  );
  const relevant = errors.flatMap((error) => {
    if (!isOfUnion(error)) return [error];
    const own = types.get(error.instancePath) ?? [];
    if (error !== own[0] || explained.has(error.instancePath)) return [];
    return [{ ...error, params: { type: own.map(({ params }) => params.type) } }];
  });
  return relevant.slice(0, MAX_ERRORS).map((error) => ({
    error,
    field: shortened(faultyField(error)),
    detail: describeFault(error, PATTERNS),
  }));
}

/** Returns the paths of the values that contain a value, and its own if wanted. */
function pathsAbove(path: string, withOwn: boolean): string[] {
  const parts = path.split("/");
  return parts.slice(withOwn ? 0 : 1).map((_, i) => parts.slice(0, parts.length - i - (withOwn ? 0 : 1)).join("/"));
}

/** Maximum length of a field's name in a response, in characters: an unknown name may fill the whole body. */
const MAX_NAME_CHARS = 200;

const shortened = (field: string | undefined): string | undefined =>
  field && field.length > MAX_NAME_CHARS ? `${field.slice(0, MAX_NAME_CHARS)}…` : field;

function pointer(error: ErrorObject, field: string | undefined): string {
  return field === undefined
    ? error.instancePath
    : `${error.instancePath}/${field.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

const CURSOR = "is not a cursor of this list: send the `nextCursor` of the previous page unchanged";

const PING_STATE = "must be done, fail, exit/CODE, or the progress in percent from 0 to 99; send done in place of 100";

const PATTERNS: Readonly<Record<string, string>> = {
  [PAGE_URL_PATTERN]: "must be an address that begins with http:// or https://",
  [CURSOR_PATTERN]: CURSOR,
  [ID_CURSOR_PATTERN]: CURSOR,
  [PING_STATE_PATTERN]: PING_STATE,
};

function summary(errors: readonly ErrorItem[]): string {
  const { pointer, parameter, detail } = errors[0] as ErrorItem;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return `${pointer?.slice(1) || parameter || "The value"} ${detail}${more}${detail.endsWith("?") ? "" : "."}`;
}
