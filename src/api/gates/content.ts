import { createContext, Script } from "node:vm";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import Type from "typebox";
import type { FieldSchema, FormSchema } from "../../shared/form/formSchema.ts";
import { isObject } from "../../shared/text/json.ts";
import { bodyCheck } from "../routing/validate.ts";

/** Maximum CPU time of all regular expressions of one answer: some take for ever, and a question has up to 50. */
const PATTERNS_CPU_MS = 25;
/** Maximum tries of one match. Its time limit also passes while the process waits for a busy CPU. */
const MAX_TRIES = 4;

/** The CPU time that is left for the regular expressions of the answer that is being checked. */
let leftMs = 0;
const sandbox: { pattern?: string; text?: string } = createContext({});
const match = new Script("new RegExp(pattern, 'u').test(text)");

/** Returns whether a text matches a pattern. One that takes too long matches nothing, as the patterns after it. */
function matches(pattern: string, text: string): boolean {
  Object.assign(sandbox, { pattern, text });
  for (let tries = 0; tries < MAX_TRIES && leftMs >= 1; tries++) {
    const before = process.cpuUsage();
    try {
      return match.runInContext(sandbox, { timeout: Math.floor(leftMs) });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
    } finally {
      const { user, system } = process.cpuUsage(before);
      leftMs -= (user + system) / 1_000;
    }
  }
  return false;
}

// ajv-formats is CommonJS: its default export arrives one level deeper in the types than at run time.
const withFormats = addFormats as unknown as typeof addFormats.default;
const ajv = withFormats(new Ajv({ allErrors: true, strict: false, verbose: true, addUsedSchema: false }));
ajv.removeKeyword("pattern");
ajv.addKeyword({ keyword: "pattern", type: "string", schemaType: "string", validate: matches, errors: false });

/**
 * Checks the content of an answer against the schema of its gate.
 * @throws AppError invalid_body with a pointer into `content` for each fault
 */
export function checkContent({ properties, required = [] }: FormSchema, content: unknown): void {
  const fields = Object.entries(properties).map(([name, field]) => [name, keywordsOf(field)]);
  const schema = Type.Unsafe<unknown>({
    type: "object",
    properties: Object.fromEntries(fields),
    required,
    additionalProperties: false,
  });
  leftMs = PATTERNS_CPU_MS;
  try {
    bodyCheck(schema, { compile: (one) => ajv.compile(one), at: "/content" })(withLargeIntegers(properties, content));
  } finally {
    ajv.removeSchema(schema); // Ajv would keep every schema that it has compiled.
  }
}

/** Returns the content with integers that the parser has kept as their digits as numbers, so that the check names the limit. */
function withLargeIntegers(properties: FormSchema["properties"], content: unknown): unknown {
  if (!isObject(content)) return content;
  const entries = Object.entries(content).map(([name, value]) => {
    const isInteger = Object.hasOwn(properties, name) && properties[name]?.type === "integer";
    const isLarge =
      isInteger && typeof value === "string" && /^-?\d{16,}$/.test(value) && !Number.isSafeInteger(+value);
    return [name, isLarge ? Number(value) : value];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the keywords of a field that validate. Titled choices become an enumeration, whose faults are clearer. Integers are
 * limited to those of which no digit is lost.
 */
function keywordsOf({ title: _, description: __, enumNames: ___, default: ____, oneOf, items, ...rest }: FieldSchema) {
  const enumeration = oneOf && { enum: oneOf.map((option) => option.const) };
  const choices = items && { items: { enum: items.enum ?? items.anyOf?.map((option) => option.const) } };
  return { ...rest, ...integerBounds(rest), ...enumeration, ...choices, ...(items && { uniqueItems: true }) };
}

/** Returns the bounds of an integer, within those of which no digit is lost; none for another type. */
export function integerBounds({ type, minimum, maximum }: FieldSchema): Pick<FieldSchema, "minimum" | "maximum"> {
  if (type !== "integer") return {};
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number;
  return { minimum: Math.max(minimum ?? least, least), maximum: Math.min(maximum ?? most, most) };
}
