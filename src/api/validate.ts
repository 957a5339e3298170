import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { TObject } from "typebox";
import { CURSOR_PATTERN } from "../models/db/cursor.ts";
import { ID_CURSOR_PATTERN } from "../models/db/idCursor.ts";
import { describeFault, faultyField } from "../shared/config/describeFault.ts";
import { AppError, type ErrorItem } from "../shared/errors.ts";

const options = { allErrors: true, strict: false, verbose: true } as const;
// ajv-formats is CommonJS: its default export arrives one level deeper in the types than at run time.
const withFormats = addFormats as unknown as typeof addFormats.default;

/** For JSON: nothing is converted. */
export const bodies = withFormats(new Ajv(options));
/** For the URL, where everything is text: numbers, booleans and lists are read, defaults are filled in. */
const urls = withFormats(new Ajv({ ...options, coerceTypes: "array", useDefaults: true }));

const MOST_ERRORS = 100;

/** A check of a body. @throws AppError invalid_body, each fault with its JSON Pointer */
export function bodyCheck(schema: TObject): (value: unknown) => void {
  const validate = bodies.compile(schema);
  return (value) => {
    if (validate(value)) return;
    const errors = faults(validate).map(({ error, field, words }) => ({
      pointer: pointer(error, field),
      detail: words,
    }));
    throw new AppError("invalid_body", { detail: summary(errors), errors });
  };
}

/**
 * A check of the path's or the query's values, which converts them in place.
 * @throws AppError invalid_query, each fault with the parameter's name
 */
export function urlCheck(schema: TObject): (value: unknown) => void {
  const validate = urls.compile(schema);
  return (value) => {
    if (validate(value)) return;
    const errors = faults(validate).map(({ error, field, words }) => ({
      parameter: field ?? error.instancePath.split("/")[1] ?? "",
      detail: words,
    }));
    throw new AppError("invalid_query", { detail: summary(errors), errors });
  };
}

interface Fault {
  readonly error: ErrorObject;
  /** Where the error is about a field that is missing or unknown. */
  readonly field: string | undefined;
  readonly words: string;
}

/** The faults worth telling: one of a field that may be null is one, though the value fits neither of two schemas. */
function faults(validate: ValidateFunction): Fault[] {
  const errors = validate.errors ?? [];
  const mayBeNull = new Set(errors.filter(isOfNullable).map(({ instancePath }) => instancePath));
  const told = errors.filter((error) => {
    const isTwice = error.keyword === "anyOf" || error.params.type === "null";
    return error.keyword !== "if" && !(isTwice && mayBeNull.has(error.instancePath));
  });
  return told.slice(0, MOST_ERRORS).map((error) => {
    const orNull = error.keyword === "type" && mayBeNull.has(error.instancePath) ? " or null" : "";
    return { error, field: shortened(faultyField(error)), words: `${describeFault(error, PATTERNS)}${orNull}` };
  });
}

const isOfNullable = ({ keyword, schema }: ErrorObject): boolean =>
  keyword === "anyOf" && (schema as { type?: string }[]).some(({ type }) => type === "null");

const MOST_CHARACTERS = 200;

/** Of a name that is a whole body the beginning will do. */
const shortened = (field: string | undefined): string | undefined =>
  field && field.length > MOST_CHARACTERS ? `${field.slice(0, MOST_CHARACTERS)}…` : field;

function pointer(error: ErrorObject, field: string | undefined): string {
  return field === undefined
    ? error.instancePath
    : `${error.instancePath}/${field.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

const CURSOR = "is not a cursor of this list: send the nextCursor of the page before, as it is";

const PATTERNS: Readonly<Record<string, string>> = { [CURSOR_PATTERN]: CURSOR, [ID_CURSOR_PATTERN]: CURSOR };

function summary(errors: readonly ErrorItem[]): string {
  const { pointer, parameter, detail } = errors[0] as ErrorItem;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return `${pointer?.slice(1) || parameter || "The value"} ${detail}${more}${detail.endsWith("?") ? "" : "."}`;
}
