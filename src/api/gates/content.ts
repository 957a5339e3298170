import { createContext, runInContext } from "node:vm";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import Type from "typebox";
import { bodyCheck } from "../validate.ts";
import type { FieldSchema, FormSchema } from "./formSchema.ts";

/** Maximum time of one regular expression of a question: some take for ever, and a question has up to 50. */
const PATTERN_TIMEOUT_MS = 25;

/** Regular expressions that do not hold up the process. One that takes too long matches nothing. */
const timeLimited = Object.assign(
  (pattern: string, flags: string) => {
    const expression = new RegExp(pattern, flags);
    return {
      toString: () => String(expression), // Ajv distinguishes expressions by their text
      test(text: string): boolean {
        try {
          return runInContext("expression.test(text)", createContext({ expression, text }), {
            timeout: PATTERN_TIMEOUT_MS,
          });
        } catch {
          return false;
        }
      },
    };
  },
  { code: "timeLimited" },
);

// ajv-formats is CommonJS: its default export arrives one level deeper in the types than at run time.
const withFormats = addFormats as unknown as typeof addFormats.default;
const ajv = withFormats(
  new Ajv({ allErrors: true, strict: false, verbose: true, code: { regExp: timeLimited }, addUsedSchema: false }),
);

/**
 * Checks the content of an answer against the schema of its gate.
 * @throws AppError invalid_body with a pointer into `content` for each fault
 */
export function checkContent({ properties, required = [] }: FormSchema, content: unknown): void {
  const fields = Object.entries(properties).map(([name, field]) => [name, keywordsOf(field)]);
  const schema = Type.Unsafe<unknown>({
    ...{ type: "object", properties: Object.fromEntries(fields), required, additionalProperties: false },
  });
  try {
    bodyCheck(schema, { compile: (one) => ajv.compile(one), at: "/content" })(content);
  } finally {
    ajv.removeSchema(schema); // Ajv would keep every schema that it has compiled.
  }
}

/** Returns the keywords of a field that validate. Titled choices become an enumeration, whose faults are clearer. */
function keywordsOf({ title: _, description: __, enumNames: ___, default: ____, oneOf, items, ...rest }: FieldSchema) {
  const enumeration = oneOf && { enum: oneOf.map((option) => option.const) };
  const choices = items && { items: { enum: items.enum ?? items.anyOf?.map((option) => option.const) } };
  return { ...rest, ...enumeration, ...choices, ...(items && { uniqueItems: true }) };
}
