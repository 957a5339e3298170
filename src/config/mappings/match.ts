import Type from "typebox";
import { isObject } from "../../shared/text/json.ts";
import { parsePath, TemplateError } from "../../shared/text/template.ts";
import { text } from "../nodes.ts";

/** The value or values that a path of `match.when` must have. */
export type WhenValue = Scalar | readonly Scalar[] | { readonly exists: boolean };
export type Scalar = string | number | boolean;

/** The conditions of a mapping by path. `conditionFaults` examines the paths, and the values that are objects. */
const When = Type.Unsafe<Readonly<Record<string, WhenValue>>>({
  type: "object",
  additionalProperties: {
    type: ["string", "number", "boolean", "array", "object"],
    items: { type: ["string", "number", "boolean"] },
    minItems: 1,
  },
  examples: [{ "payload.action": ["opened", "reopened"], "headers.x-github-event": "pull_request" }],
  description:
    "Conditions by path, which a request must meet before it becomes a run. A path is written as in a template; its value must equal the value, or one of the list. `{ exists: true }` requires any value, `{ exists: false }` none. With `forEach`, a path such as `item.event` leaves out the items that do not meet it.",
});

/** The requests that a mapping handles. */
export const MatchSchema = Type.Object(
  {
    path: Type.Optional(
      text({
        pattern: "^[^/?#]+(/[^/?#]+)*$",
        examples: ["ci/build"],
        description: "Name in the URL after `hooks.path`. It can have several parts, such as `ci/build`.",
      }),
    ),
    source: Type.Optional(
      text({ examples: ["ci"], description: "Value that the top-level field `source` of the body must have." }),
    ),
    when: Type.Optional(When),
  },
  {
    additionalProperties: false,
    description: "Which requests the mapping handles. All keys must match. With none, it handles every request.",
  },
);

/** Returns a sentence, beginning with the key, for each condition that no request can meet. */
export function conditionFaults(
  when: Readonly<Record<string, WhenValue>> | undefined,
  forEach: string | undefined,
): (string | false)[] {
  return Object.entries(when ?? {}).map(([path, value]) => {
    const fault = pathFault(path, forEach) ?? valueFault(value);
    return fault !== null && `match.when["${path}"] ${fault}`;
  });
}

function pathFault(path: string, forEach: string | undefined): string | null {
  try {
    const { root } = parsePath(path);
    if (root === "now") return "must not begin with now: conditions are about the request, such as payload.action";
    return root === "item" && forEach === undefined
      ? "needs forEach: without it a request has no items; write a path of the body, such as payload.action"
      : null;
  } catch (error) {
    if (error instanceof TemplateError) return `is not a path: ${error.message}`;
    throw error;
  }
}

function valueFault(value: WhenValue): string | null {
  if (!isObject(value)) return null;
  const isExists = Object.keys(value).join() === "exists" && typeof value.exists === "boolean";
  return isExists ? null : "must be a value, a list of values, or { exists: true }";
}
