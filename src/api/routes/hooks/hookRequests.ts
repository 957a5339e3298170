import Type from "typebox";
import type { Mapping } from "../../../hooks/mappings/mapping.ts";
import { parseBody } from "../../../hooks/mappings/requestBody.ts";
import { noHours, readHookFigures } from "../../../models/intake/hookFigures.ts";
import { findHookRequest, listHookRequests, viewRow } from "../../../models/intake/readHookRequests.ts";
import { senderContext } from "../../../models/intake/sessionOwners.ts";
import { AppError } from "../../../shared/errors.ts";
import * as s from "../../../wire/blocks.ts";
import * as shapes from "../../../wire/hookRequest.ts";
import { requireScope } from "../../auth/authorize.ts";
import * as examples from "../../examples/inbox.ts";
import { configuredMappings } from "../../inbox/configuredMappings.ts";
import { dryRun } from "../../inbox/dryRun.ts";
import { callOf, headOf, kindOf, scopesForReplay, selectFor } from "../../inbox/replay.ts";
import { startRuns } from "../../inbox/startRuns.ts";
import { type AnyRoute, route } from "../../routing/route.ts";
import { parseTimes } from "../../routing/validate.ts";
import * as q from "../../schemas/requests.ts";

const params = Type.Object({ requestId: s.Identifier("Identifies the kept request.") });

/** Maximum names of unknown hooks in a response. */
const MAX_UNKNOWN = 50;

const listHooks = route({
  method: "get",
  path: "/api/hooks",
  operationId: "listHooks",
  scopes: ["runs:read"],
  tag: "requests",
  summary: "List hooks",
  description:
    "Returns the hooks that mappings name, in the order of the configuration, and then those that no mapping takes and that were called in the last 24 hours: each with its address, its newest request and the number of its requests by hour. Requests are counted while `hooks.keepRequests` is set.",
  example: examples.listHooks,
  schemas: {},
  answers: { 200: Type.Object({ hooks: s.Rows(shapes.Hook) }, s.named("HookList")) },
  errors: [],
  async handler(_input, deps) {
    const figures = await readHookFigures(deps.stores, deps.clock.now());
    const named = Map.groupBy(configuredMappings(deps), ({ hook }) => hook);
    const unknown = [...figures.keys()].filter((hook) => !named.has(hook)).slice(0, MAX_UNKNOWN);
    const hooks = [...[...named.keys()].filter((hook) => hook !== null), ...unknown].map((hook): shapes.Hook => {
      const mappings = named.get(hook) ?? [];
      const { last = null, hours = noHours() } = figures.get(hook) ?? {};
      const { preset: sender = null, address = null } = mappings[0] ?? {};
      return { hook, mappings: mappings.map(({ mapping }) => mapping), sender, address, last, hours: [...hours] };
    });
    return { status: 200, body: { hooks } };
  },
});

const listRequests = route({
  method: "get",
  path: "/api/hooks/requests",
  operationId: "listHookRequests",
  scopes: ["runs:read"],
  tag: "requests",
  summary: "List kept requests",
  description:
    "Returns the requests to hooks that are kept, newest first, without their bodies: each with its outcome. Requests are kept while `hooks.keepRequests` is set. The newest 500 refused requests are kept. The list ends when `nextCursor` is null.",
  example: examples.listHookRequests,
  schemas: {
    query: Type.Object(
      {
        hook: Type.Optional(Type.String({ description: "Requests with this name of the hook in their URL." })),
        mapping: Type.Optional(Type.String({ description: "Requests that this mapping took or filtered." })),
        outcome: q.anyOf(Type.Enum([...shapes.OUTCOMES]), "Requests with this outcome."),
        status: Type.Optional(
          Type.Integer({ minimum: 100, maximum: 599, description: "Requests that were answered with this status." }),
        ),
        from: Type.Optional(s.Timestamp("Requests from this time on.")),
        before: Type.Optional(s.Timestamp("Requests before this time.")),
        ...q.idPaging,
      },
      q.closed,
    ),
  },
  answers: {
    200: Type.Object({ requests: s.Rows(shapes.HookRequestRow), nextCursor: s.nextCursor }, s.named("HookRequestList")),
  },
  errors: [],
  async handler({ query: { limit = 100, from, before, ...rest } }, { stores }) {
    const times = parseTimes({ from, before });
    return { status: 200, body: await listHookRequests(stores, { limit, ...rest, ...times }) };
  },
});

const getRequest = route({
  method: "get",
  path: "/api/hooks/requests/:requestId",
  operationId: "getHookRequest",
  scopes: ["runs:read"],
  tag: "requests",
  summary: "Get a kept request",
  description:
    "Returns a kept request with its headers, query and body. Values of headers and query are `***` unless their names are known to be harmless, or a mapping of the hook reads them. The body is byte for byte what was sent.",
  example: examples.getHookRequest,
  isLarge: () => true,
  schemas: { params },
  answers: { 200: shapes.HookRequest },
  errors: ["request_not_found"],
  async handler({ params: { requestId } }, { stores }) {
    const request = await findHookRequest(stores, requestId);
    const { headers, url, query } = headOf(request);
    const payload = request.body ? (await callOf(request)).call.payload : null;
    return { status: 200, body: { ...viewRow(request), url, headers, query, ...viewBody(request.body), payload } };
  },
});

/** Returns a body as text if it is UTF-8, and otherwise in base64: a compressed one, for example. */
function viewBody(body: { value(): Uint8Array } | null): {
  body: string | null;
  bodyEncoding: "utf8" | "base64" | null;
} {
  if (!body) return { body: null, bodyEncoding: null };
  const bytes = Buffer.from(body.value());
  try {
    return { body: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), bodyEncoding: "utf8" };
  } catch {
    return { body: bytes.toString("base64"), bodyEncoding: "base64" };
  }
}

/** Returns the routes of kept requests. @param mappings the compiled mappings, with which requests are replayed */
export function hookRequestRoutes(mappings: readonly Mapping[]): AnyRoute[] {
  const replayRequest = route({
    method: "post",
    path: "/api/hooks/requests/:requestId/replay",
    operationId: "replayHookRequest",
    scopes: ["runs:write"],
    tag: "requests",
    summary: "Replay a kept request",
    description:
      "Starts new runs from a kept request with the current configuration (202). They are marked with `replayOf`; the original request and its runs stay as they were. The signature is not verified again: its verdict at arrival counts. A mapping of another hook or sender needs the scope `hooks:NAME` of that hook or `admin`, and the runs keep to the sessions of the sender.\n\nWith `dryRun: true`, which needs the scope `runs:read` too, nothing is stored or sent. The response (200) shows which mapping takes the request, and the message, session and delivery that would result. The transform of a mapping is not run; `signalbox hooks test NAME --request ID` runs it on your machine.",
    example: examples.replayHookRequest,
    schemas: {
      params,
      body: Type.Object(
        {
          mapping: shapes.MappingName,
          dryRun: Type.Optional(
            Type.Boolean({ description: "Whether only the result is shown. The default is false." }),
          ),
        },
        s.named("ReplayRequest"),
      ),
    },
    answers: { 200: shapes.DryRun, 202: shapes.Replayed },
    errors: ["request_not_found", "request_state_conflict", "hook_not_found"],
    audit: ({ params, body }) => (body.dryRun ? null : { action: "request.replay", target: params.requestId }),
    authContext: "api",
    async handler({ params: { requestId }, body, authContext }, deps) {
      if (body.dryRun) requireScope(authContext, "runs:read");
      const request = await findHookRequest(deps.stores, requestId);
      const kept = await callOf(request);
      const selected = selectFor(mappings, kept, body.mapping, deps.clock.now());
      const { mapping, considered } = selected;
      if (body.dryRun) return { status: 200, body: dryRun(deps, selected, kept.call) };
      if (considered.length === 0) {
        const detail = `No mapping has the name ${kept.call.path} any more: name one in mapping, or add it to hooks.mappings.`;
        throw new AppError("hook_not_found", { detail });
      }
      const needed = mapping ? scopesForReplay(mappings, request, mapping) : [];
      if (needed.length > 0) requireScope(authContext, ...needed);
      const origin = { replayOf: requestId, sender: senderContext(request) };
      const runIds = mapping ? await startRuns(deps, mapping, kept.call, origin) : [];
      const [runId = null] = runIds;
      return { status: 202, body: { ok: true as const, mapping: mapping?.key ?? null, runId, runIds } };
    },
  });

  const tryRequest = route({
    method: "post",
    path: "/api/hooks/dry-run",
    operationId: "tryHookRequest",
    scopes: ["runs:write"],
    tag: "requests",
    summary: "Try a mapping on a body",
    description:
      "Shows what the mappings make of a request that you write yourself: which mapping takes it, and the message, session and delivery that would result. Nothing is stored or sent, no sender is authenticated, and the transform of the mapping is not run. It needs the scope `runs:read` too.",
    example: examples.tryHookRequest,
    schemas: {
      body: shapes.TryHookRequest,
    },
    answers: { 200: shapes.DryRun },
    errors: [],
    authContext: "api",
    async handler({ body: given, authContext }, deps) {
      requireScope(authContext, "runs:read");
      const entries = Object.entries(given.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
      const headers = Object.fromEntries(entries) as Record<string, string>;
      const kind = kindOf(headers["content-type"] ?? null);
      const query = given.query ?? {};
      const search = new URLSearchParams(query).toString();
      const url = `${deps.hooks.path}/${given.hook}${search && `?${search}`}`;
      const call = { headers, url, query, path: given.hook, payload: parseBody(Buffer.from(given.body), kind) };
      const selected = selectFor(mappings, { call, kind }, given.mapping, deps.clock.now());
      return { status: 200, body: dryRun(deps, selected, call) };
    },
  });
  return [listHooks, listRequests, getRequest, replayRequest, tryRequest];
}
