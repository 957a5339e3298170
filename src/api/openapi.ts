import { isDeepStrictEqual } from "node:util";
import type { TObject, TSchema } from "typebox";
import { ERRORS, type ErrorCode } from "../shared/errors.ts";
import { isRunPath } from "./auth/apiAuth.ts";
import { linksFrom } from "./links.ts";
import { type AnyRoute, errorsOf, TAGS } from "./route.ts";
import { isList } from "./router.ts";

const PROBLEM = {
  type: "object",
  description: "The body of every error response: problem details as in RFC 9457.",
  required: ["type", "title", "status", "detail", "code"],
  properties: {
    type: { type: "string", description: "URL of the page that explains the code." },
    title: { type: "string", description: "The meaning of the code; the same text for each error with this code." },
    status: { type: "integer", description: "The HTTP status of the response." },
    detail: {
      type: "string",
      description: "The problem of this request, and how to correct it. For people; it can change.",
    },
    code: {
      type: "string",
      enum: Object.keys(ERRORS),
      description: "Identifies the kind of error. Programs should read this: codes are added and never renamed.",
    },
    errors: {
      type: "array",
      description: "Each invalid field or parameter.",
      items: {
        type: "object",
        required: ["detail"],
        properties: {
          pointer: {
            type: "string",
            description: "Path of the field in the body, as a JSON Pointer: `/metadata/team`.",
          },
          parameter: { type: "string", description: "Name of the parameter in the path, the query or the headers." },
          detail: { type: "string", description: "The problem of the field or parameter." },
        },
      },
    },
  },
};

/**
 * Returns the OpenAPI 3.1 document of the routes, which is served as openapi.json.
 * @param options whether a token is configured for the API, and the path that it is served below
 * @throws Error when two different schemas have the same title
 */
export function toOpenApi(
  routes: readonly AnyRoute[],
  info: { title: string; version: string; description: string },
  { needsToken, basePath = "" }: { needsToken: boolean; basePath?: string },
) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const r of routes) {
    const path = r.path.replace(/[:*](\w+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][r.method] = operation(r, routes, needsToken);
  }
  const tags = new Set(routes.map(({ tag }) => tag));
  const schemas: Record<string, unknown> = { Problem: PROBLEM };
  return {
    openapi: "3.1.0",
    info: { ...info, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: basePath || "/" }],
    tags: [...tags].map((name) => ({ name, description: TAGS[name] })),
    paths: extractSchemas(paths, schemas),
    security: needsToken ? [{ token: [] }] : [{}],
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description:
            "The value of `server.apiToken`, if one is configured. The read-only token can send GET requests.",
        },
        hookToken: {
          type: "http",
          scheme: "bearer",
          description: "The value of `hooks.token`. It can also read single runs.",
        },
        hookServiceToken: {
          type: "apiKey",
          in: "header",
          name: "x-service-token",
          description: "The value of `hooks.token`, for senders that cannot set `Authorization`.",
        },
      },
    },
  };
}

/**
 * Returns a part of the document with each titled schema replaced by a reference, and adds these schemas to `schemas` by
 * title. Code generators then produce one type for each of them.
 */
function extractSchemas(part: unknown, schemas: Record<string, unknown>): unknown {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((item) => extractSchemas(item, schemas));
  const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, extractSchemas(value, schemas)]));
  const { title, ...schema } = copy;
  if (typeof title !== "string") return copy;
  if (title in schemas && !isDeepStrictEqual(schemas[title], schema))
    throw new Error(`Two schemas have the title ${title}`);
  schemas[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
}

function operation(r: AnyRoute, routes: readonly AnyRoute[], needsToken: boolean): object {
  return {
    operationId: r.operationId,
    tags: [r.tag],
    summary: r.summary,
    description: r.description,
    ...((r.tag === "operations" || r.tag === "session") && { security: [] }),
    ...(r.tag === "hooks" && { security: HOOK_TOKENS }),
    ...(needsToken && r.method === "get" && isRunPath(r) && { security: [{ token: [] }, ...HOOK_TOKENS] }),
    parameters: (["path", "query", "header"] as const).flatMap((place) => parameters(r, place)),
    ...(r.schemas.body && {
      requestBody: {
        required: needsBody(r),
        content: { "application/json": { schema: r.schemas.body, example: r.example.body } },
      },
    }),
    ...(r.textBody && {
      requestBody: {
        required: false,
        content: { "text/plain": { schema: { type: "string" }, example: r.example.text } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(r.answers).map(([status, schema]) => [status, answer(r, status, schema as TSchema, routes)]),
      ),
      ...errorResponses(r),
    },
  };
}

const HOOK_TOKENS = [{ hookToken: [] }, { hookServiceToken: [] }];

const needsBody = (r: AnyRoute): boolean =>
  (r.schemas.body && "required" in r.schemas.body ? r.schemas.body.required : []).length > 0;

const PLACES = { path: "params", query: "query", header: "headers" } as const;

function parameters({ schemas, example }: AnyRoute, place: keyof typeof PLACES): object[] {
  const schema: TObject | undefined = schemas[PLACES[place]];
  const needed = (schema?.required ?? []) as readonly string[];
  const fixed = Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { explode, ...rest } = property as TSchema & { description?: string; explode?: boolean };
    return {
      ...{ name, in: place, required: place === "path" || needed.includes(name) },
      description: rest.description,
      // Only identifiers have an example: "Try it out" sends every example, and that of a filter would hide rows.
      ...(place === "path" && { example: example.params?.[name] }),
      schema: rest,
      ...(isList(property) && { style: "form", explode }),
    };
  });
  // OpenAPI cannot describe parameters whose names the caller chooses: KEY is a placeholder.
  const patterns = Object.keys((schema as { patternProperties?: object } | undefined)?.patternProperties ?? {});
  const free = patterns.map(() => ({
    name: "metadata.KEY",
    in: place,
    required: false,
    description:
      "Jobs whose metadata has this value under KEY. Nested keys are joined by dots: `metadata.build.branch=main`. Can be repeated.",
    schema: { type: "string", maxLength: 1_024 },
  }));
  return [...fixed, ...free];
}

const RESULTS: Readonly<Record<string, string>> = {
  201: "The record was created.",
  202: "The request was accepted. The work continues in the background.",
  204: "The request succeeded. The response has no body.",
  503: "The process cannot serve requests.",
};

function answer(r: AnyRoute, status: string, schema: TSchema, routes: readonly AnyRoute[]): object {
  const description = RESULTS[status] ?? "The request succeeded.";
  if (status === "204") return { description };
  const links = linksFrom(r, schema, routes);
  const example = r.example.answers[Number(status)];
  const content = { [r.stream ? "text/event-stream" : typeOf(schema)]: { schema, example } };
  return { description, content, ...(links && { links }) };
}

const typeOf = ({ type }: TSchema & { type?: string }) => (type === "string" ? "text/plain" : "application/json");

function errorResponses(r: AnyRoute): Record<string, object> {
  const codes = Map.groupBy(errorsOf(r), (code: ErrorCode) => ERRORS[code].status);
  const taken = new Set<number>(Object.keys(r.answers).map(Number));
  const content = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };
  const described = (list: readonly ErrorCode[]) =>
    list.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join("\n\n");
  return Object.fromEntries(
    [...codes].flatMap(([status, list]) =>
      taken.has(status) ? [] : [[status, { description: described(list), content }]],
    ),
  );
}
