import type { TObject, TSchema } from "typebox";
import { ERRORS, type ErrorCode } from "../../shared/errorCatalogue.ts";
import { isRunPath } from "../auth/apiAuth.ts";
import { linksFrom } from "../links.ts";
import { MCP_OPERATION, MCP_PATH } from "../mcp/operation.ts";
import { METADATA_FILTER, takesMetadata } from "../metadataFilter.ts";
import { type AnyRoute, errorsOf, TAGS } from "../routing/route.ts";
import { isList } from "../routing/router.ts";
import { MAX_WAIT_SECONDS } from "../wait.ts";
import { NamedSchemas } from "./namedSchemas.ts";

/** The service is self-hosted: only its operator can help with it. */
const CONTACT = { name: "The operator of this service" };

/**
 * Returns the OpenAPI 3.1 document of the routes, which is served as openapi.json.
 * @param basePath the path that the API is served below
 * @throws Error when two different schemas have the same title
 */
export function toOpenApi(
  routes: readonly AnyRoute[],
  info: { title: string; version: string; description: string },
  basePath = "",
) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const r of routes) {
    const path = r.path.replace(/[:*](\w+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][r.method] = operation(r, routes);
  }
  paths[MCP_PATH] = { post: mcpOperation() };
  const tags = new Set([...routes.map(({ tag }) => tag), "mcp" as const]);
  const schemas = new NamedSchemas();
  return {
    openapi: "3.1.0",
    info: { ...info, contact: CONTACT, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: basePath || "/" }],
    tags: [...tags].map((name) => ({ name, description: TAGS[name] })),
    paths: schemas.extract(paths),
    security: [{ token: [] }],
    components: {
      schemas: schemas.components,
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description:
            "The value of `server.apiToken`, if one is configured, which has every scope; that of `server.readOnlyToken`, which has the scopes `jobs:read` and `runs:read`; one of `server.tokens`; or the token of a job.",
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

/** Returns the operation of MCP with the problems that each endpoint with a body can answer. */
function mcpOperation(): object {
  const endpoint = { schemas: { body: {} }, answers: MCP_OPERATION.responses, errors: ["method_not_allowed"] };
  return {
    ...MCP_OPERATION,
    responses: { ...MCP_OPERATION.responses, ...errorResponses(endpoint as unknown as AnyRoute) },
  };
}

function operation(r: AnyRoute, routes: readonly AnyRoute[]): object {
  return {
    operationId: r.operationId,
    tags: [r.tag],
    summary: r.summary,
    description: r.description + scopesText(r) + receiptText(r),
    ...securityOf(r),
    parameters: [
      ...(["path", "query", "header"] as const).flatMap((place) => parameters(r, place)),
      ...(r.canWait ? [PREFER] : []),
    ],
    ...(r.schemas.body && {
      requestBody: {
        required: needsBody(r),
        content: { "application/json": { schema: r.schemas.body, example: r.example.body } },
      },
    }),
    ...(r.textBody && {
      requestBody: {
        required: false,
        content: Object.fromEntries(
          (r.textTypes ?? ["text/plain"]).map((type, i) => [
            type,
            { schema: { type: "string" }, example: i === 0 ? r.example.text : r.example.otherTexts?.[type] },
          ]),
        ),
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

/**
 * Returns the credentials of an operation. They do not depend on the configuration, so that a client that was generated from
 * a service without a token can send one. The scopes are in `x-scopes`: linters expect lists of scopes for OAuth alone.
 */
function securityOf(r: AnyRoute): object {
  if (r.scopes.length === 0) return { security: [] };
  const readsRuns = r.method === "get" && isRunPath(r);
  const security = r.tag === "hooks" ? [...HOOK_TOKENS, TOKEN] : [TOKEN, ...(readsRuns ? HOOK_TOKENS : [])];
  return { security, "x-scopes": r.scopes };
}

function scopesText({ scopes }: AnyRoute): string {
  if (scopes.length === 0) return "";
  const all = scopes.map((scope) => `\`${scope}\``).join(" or ");
  return `\n\nRequires the scope ${all} where tokens are configured.`;
}

/** Receipts are described in words: a union would give every generated client a type that is hard to use. */
const receiptText = ({ receipt }: AnyRoute): string =>
  receipt
    ? `\n\nWithout the scope ${receipt.unless.map((scope) => `\`${scope}\``).join(" or ")} the response is a receipt: ${Object.keys(
        receipt.schema.properties,
      )
        .map((name) => `\`${name}\``)
        .join(", ")}.`
    : "";

const TOKEN = { token: [] };
const HOOK_TOKENS = [{ hookToken: [] }, { hookServiceToken: [] }];

const needsBody = (r: AnyRoute): boolean =>
  (r.schemas.body && "required" in r.schemas.body ? r.schemas.body.required : []).length > 0;

const PREFER = {
  name: "Prefer",
  in: "header",
  required: false,
  description: `\`wait=N\` lets the request wait for at most N seconds (RFC 7240); more than ${MAX_WAIT_SECONDS} count as ${MAX_WAIT_SECONDS}. Everything else is ignored.`,
  schema: { type: "string" },
};

const PREFERENCE_APPLIED =
  "The wait that was applied: `wait=N`. Absent without `Prefer: wait`, and when `server.maxWaiting` requests wait already.";

/** Returns the headers of successful responses that not every route has. */
function answerHeaders({ canWait, answerHeaders }: AnyRoute): Record<string, object> | undefined {
  const all = { ...answerHeaders, ...(canWait && { "Preference-Applied": PREFERENCE_APPLIED }) };
  const headers = Object.entries(all).map(([name, description]) => [name, { description, schema: { type: "string" } }]);
  return headers.length > 0 ? Object.fromEntries(headers) : undefined;
}

const PLACES = { path: "params", query: "query", header: "headers" } as const;

function parameters(r: AnyRoute, place: keyof typeof PLACES): object[] {
  const { schemas, example } = r;
  const schema: TObject | undefined = schemas[PLACES[place]];
  const needed = (schema?.required ?? []) as readonly string[];
  const fixed = Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { explode, ...rest } = property as TSchema & { description?: string; explode?: boolean };
    return {
      name,
      in: place,
      required: place === "path" || needed.includes(name),
      description: rest.description,
      // Only identifiers have an example: "Try it out" sends every example, and that of a filter would hide rows.
      ...(place === "path" && { example: example.params?.[name] }),
      schema: rest,
      ...(isList(property) && { style: "form", explode }),
    };
  });
  return [...fixed, ...(place === "query" && takesMetadata(r) ? [METADATA_PARAMETER] : [])];
}

const METADATA_PARAMETER = {
  name: "metadata",
  in: "query",
  required: false,
  style: "deepObject",
  explode: true,
  description:
    "Jobs whose metadata has these values: `metadata[team]=sales`. Nested keys are joined by dots: `metadata[build.branch]=main`. A parameter can be repeated; a list in the metadata then must have each of the values.",
  example: {}, // "Try it out" would send a made-up filter
  schema: { ...METADATA_FILTER, title: "MetadataFilter", propertyNames: { pattern: "^(?!KEY$)[^\\[\\]]+$" } },
};

const RESULTS: Readonly<Record<string, string>> = {
  201: "The record was created.",
  202: "The request was accepted. The work continues in the background.",
  204: "The request succeeded. The response has no body.",
  304: "The record has not changed. The response has no body.",
  503: "The process cannot serve requests.",
};

function answer(r: AnyRoute, status: string, schema: TSchema, routes: readonly AnyRoute[]): object {
  const description = RESULTS[status] ?? "The request succeeded.";
  const headers = answerHeaders(r);
  if (status === "204" || status === "304") return { description, ...(headers && { headers }) };
  const links = linksFrom(r, schema, routes);
  const example = r.example.answers[Number(status)];
  const [json = schema, text] = alternatives(schema);
  const content = {
    [r.stream ? "text/event-stream" : typeOf(json)]: { schema: json, example },
    ...(text && { "text/plain": { schema: text, example: r.example.otherTexts?.["text/plain"] } }),
  };
  return { description, ...(headers && { headers }), content, ...(links && { links }) };
}

/** Returns the JSON and the text of which the client chooses one with `Accept`; nothing for a single schema. */
function alternatives({ anyOf = [] }: TSchema & { anyOf?: readonly TSchema[] }): readonly TSchema[] {
  return anyOf.length === 2 && (anyOf[1] as { type?: string }).type === "string" ? anyOf : [];
}

const typeOf = ({ type }: TSchema & { type?: string }) => (type === "string" ? "text/plain" : "application/json");

function errorResponses(r: AnyRoute): Record<string, object> {
  const codes = Map.groupBy(errorsOf(r), (code: ErrorCode) => ERRORS[code].status);
  const taken = new Set<number>(Object.keys(r.answers).map(Number));
  const content = { "application/problem+json": { schema: PROBLEM } };
  const described = (list: readonly ErrorCode[]) =>
    list.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join("\n\n");
  return Object.fromEntries(
    [...codes].flatMap(([status, list]) =>
      taken.has(status) ? [] : [[status, { description: described(list), content }]],
    ),
  );
}

const ERROR_ITEM = {
  type: "object",
  title: "ErrorItem",
  description: "An invalid field or parameter.",
  required: ["detail"],
  properties: {
    pointer: { type: "string", description: "Path of the field in the body, as a JSON Pointer: `/metadata/team`." },
    parameter: { type: "string", description: "Name of the parameter in the path, the query or the headers." },
    detail: { type: "string", description: "The problem of the field or parameter." },
  },
};

/** The schema of the body of every error response in openapi.json. */
const PROBLEM = {
  type: "object",
  title: "Problem",
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
    gate: {
      type: "object",
      additionalProperties: true,
      title: "JsonObject",
      description: "The gate as it is, with its answer; present for `gate_answered` and `gate_closed`.",
    },
    errors: { type: "array", description: "Each invalid field or parameter.", items: ERROR_ITEM },
  },
};
