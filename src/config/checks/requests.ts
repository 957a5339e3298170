import { isObject } from "../../shared/text/json.ts";
import { parsePath, TemplateError } from "../formats/template.ts";
import type { Config } from "../schema/config.ts";
import type { WhenValue } from "../schema/mapping.ts";

type Mapping = Config["hooks"]["mappings"][number];

/** Returns a sentence for each fault in the keys of a mapping that decide which requests it takes. */
export function requestFaults({ match, forEach, handshake, verifyToken }: Mapping): (string | false)[] {
  return [
    ...Object.entries(match?.when ?? {}).map(([path, value]) => {
      const fault = pathFault(path, forEach) ?? valueFault(value);
      return fault !== null && `match.when["${path}"] ${fault}`;
    }),
    handshake !== undefined &&
      match?.path === undefined &&
      "handshake needs match.path: add the name under which this sender calls",
    handshake !== undefined &&
      verifyToken === undefined &&
      `verifyToken is missing: handshake ${handshake} needs it, so that no other account can use the URL`,
    handshake === undefined &&
      verifyToken !== undefined &&
      "verifyToken has no effect without handshake: remove it, or name the handshake of the sender",
  ];
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
