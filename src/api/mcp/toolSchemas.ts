import type { Tool } from "@modelcontextprotocol/server";
import type { TSchema } from "typebox";
import { METADATA_FILTER, metadataParameter, takesMetadata } from "../metadataFilter.ts";
import type { RawRequest } from "../routing/preparedRoute.ts";
import type { AnyRoute } from "../routing/route.ts";

/** A JSON Schema of an object, as tools declare it. */
export type ObjectSchema = Tool["inputSchema"];

type Properties = Readonly<Record<string, unknown>>;

/** Returns the properties that a client sends, without those that it may only send back. */
const writable = (schema: TSchema | undefined): Properties =>
  Object.fromEntries(
    Object.entries((schema as { properties?: Properties } | undefined)?.properties ?? {}).filter(
      ([, property]) => (property as { readOnly?: boolean }).readOnly !== true,
    ),
  );

const requiredOf = (schema: TSchema | undefined): readonly string[] =>
  (schema as { required?: readonly string[] } | undefined)?.required ?? [];

/** Returns the schema of the arguments that are not in the path: of the body, or of the query of a route without a body. */
const contentOf = ({ schemas: { body, query } }: AnyRoute): TSchema | undefined => body ?? query;

interface ArgumentOptions {
  /** Arguments that may be left out, such as the job of a job token. */
  readonly omit: readonly string[];
  /** Defaults that differ from those of the route. */
  readonly defaults?: Properties | undefined;
}

/** Returns the schema of a tool's arguments: path parameters, and fields of the body or query parameters, in one object. */
export function inputSchema(route: AnyRoute, { omit, defaults = {} }: ArgumentOptions): ObjectSchema {
  const { params } = route.schemas;
  const taken = { ...writable(params), ...writable(contentOf(route)) };
  const withDefaults = Object.entries(defaults).map(([name, value]) => [
    name,
    { ...(taken[name] as object), default: value },
  ]);
  const properties = {
    ...taken,
    ...Object.fromEntries(withDefaults),
    ...(takesMetadata(route) && { metadata: METADATA_FILTER }),
  };
  const required = [params, contentOf(route)].flatMap(requiredOf).filter((name) => !omit.includes(name));
  return plain({ type: "object", properties, required, additionalProperties: false }) as ObjectSchema;
}

/**
 * Returns the schema of the successful responses of a route, which are all alike.
 * @param asReceipt whether the caller receives receipts
 */
export function outputSchema({ answers, receipt }: AnyRoute, asReceipt: boolean): ObjectSchema {
  const [schema] = Object.values(answers as Record<string, TSchema>);
  return plain(asReceipt ? receipt?.schema : schema) as ObjectSchema;
}

/** Returns a schema as plain JSON, without the keywords that only this service reads. */
function plain(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === "explode" ? undefined : value)));
}

/** Sorts the arguments of a tool into the parts of a request. Unknown ones go where the check of the route names them. */
export function toRequest(route: AnyRoute, args: Readonly<Record<string, unknown>>): RawRequest {
  const inPath = route.schemas.params?.properties ?? {};
  const params: Record<string, unknown> = {};
  const content: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (Object.hasOwn(inPath, name)) params[name] = value;
    else if (name === "metadata" && takesMetadata(route)) {
      for (const [key, item] of Object.entries((value ?? {}) as object)) content[metadataParameter(key)] = [item];
    } else content[name] = value;
  }
  return route.schemas.body
    ? { params, query: {}, headers: {}, body: content }
    : { params, query: content, headers: {}, body: undefined };
}
