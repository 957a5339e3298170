import type { ErrorObject } from "ajv";
import { limitFault } from "./describeFault.ts";
import type { Environment } from "./fill.ts";
import { nearest } from "./nearest.ts";
import type { ConfigNode } from "./nodes.ts";

/** Returns the dotted key of a fault, such as `agents.defaults.models.2.id`. */
export function faultyKey(error: ErrorObject): string {
  const { missingProperty, additionalProperty } = error.params;
  const names = error.instancePath.split("/").slice(1);
  const last: string | undefined = missingProperty ?? additionalProperty;
  return [...names.map(unescapePointer), ...(last === undefined ? [] : [last])].map(printable).join(".");
}

/** Returns a printable key: JSON5 allows empty ones. */
const printable = (name: string) => name || '""';

const unescapePointer = (name: string) => name.replaceAll("~1", "/").replaceAll("~0", "~");

/** Returns a sentence about a fault that the schema found. Never contains the value, which may be a secret. */
export function explain(error: ErrorObject, env: Environment): string {
  const { keyword, params } = error;
  const node = (error.parentSchema ?? {}) as ConfigNode;
  const key = faultyKey(error);
  const name = node.env && env[node.env] ? `${node.env} (${key})` : key;
  switch (keyword) {
    case "additionalProperties": {
      const known = nearest(params.additionalProperty, Object.keys(node.properties ?? {}));
      const section = key.slice(0, key.length - printable(params.additionalProperty).length);
      return `${key} is not a known key${known ? `; did you mean ${section}${known}?` : ""}`;
    }
    case "required":
      return `${key} is missing`;
    case "enum":
      return `${name} must be one of ${node.enum?.join(", ")}`;
    case "pattern":
      return `${name} must look like ${node.examples?.[0] ?? params.pattern}`;
    default:
      return `${name} ${limitFault(error) ?? error.message}`;
  }
}
