import { AppError } from "../shared/errors.ts";
import type { AnyRoute } from "./routing/route.ts";

/**
 * The filter of jobs by metadata. The API takes `metadata[KEY]=value`, which generated clients send, and the older form
 * `metadata.KEY=value`. Everything behind the check of a request knows only the older form.
 */

const PREFIX = "metadata.";

/** Options of the query of a route that filters by metadata: the client chooses the names of these parameters. */
export const withMetadata = {
  additionalProperties: false,
  patternProperties: { "^metadata\\..+": { type: "array", items: { type: "string", maxLength: 1_024 } } },
} as const;

/** The filter as one object, as openapi.json and the tools of MCP declare it. */
export const METADATA_FILTER = {
  type: "object",
  description: "Values that the metadata of a job must have, by key. Nested keys are joined by dots: `build.branch`.",
  additionalProperties: { type: "string", maxLength: 1_024 },
} as const;

/** Returns whether a route filters by metadata. */
export const takesMetadata = ({ schemas }: AnyRoute): boolean =>
  (schemas.query as { patternProperties?: object } | undefined)?.patternProperties !== undefined;

/** Returns the name of the parameter that filters by a key. */
export const metadataParameter = (key: string): string => PREFIX + key;

/**
 * Renames parameters `metadata[KEY]` to `metadata.KEY` in place.
 * @throws AppError invalid_query for a parameter without a key, with KEY itself, or with a malformed key
 */
export function renameMetadata(query: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(query)) {
    if (!/^metadata(?:[.[]|$)/.test(name)) continue;
    const key = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : /^metadata\[([^[\]]+)\]$/.exec(name)?.[1];
    if (!key || key === "KEY") throw invalidKey(name, key);
    if (name.startsWith(PREFIX)) continue;
    delete query[name];
    const parameter = metadataParameter(key);
    query[parameter] = parameter in query ? [query[parameter], value].flat() : value;
  }
}

function invalidKey(parameter: string, key: string | undefined): AppError {
  const place = key === "KEY" ? " in place of KEY" : "";
  const detail = `must name a key of the metadata${place}, such as metadata[team]=sales; join nested keys by dots`;
  return new AppError("invalid_query", { detail: `${parameter} ${detail}.`, errors: [{ parameter, detail }] });
}

/** Returns the pairs of key and value that a checked query filters by. */
export const metadataOf = (query: object): (readonly [key: string, value: string])[] =>
  Object.entries(query).flatMap(([parameter, values]) =>
    parameter.startsWith(PREFIX)
      ? (values as string[]).map((value) => [parameter.slice(PREFIX.length), value] as const)
      : [],
  );
