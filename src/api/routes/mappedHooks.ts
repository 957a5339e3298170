import Type from "typebox";
import { mappedRuns } from "../../hooks/mappings/mappedRuns.ts";
import { acceptMappedRuns } from "../../models/hooks/acceptHook.ts";
import { mappingContext, withoutForeignSessions } from "../../models/sessions/sessionOwners.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { checkDepth } from "../../shared/json.ts";
import { mappedHook } from "../../shared/queue/definitions.ts";
import * as examples from "../examples/gateway.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";
import { hookHeaders, hookQuery, idempotencyOf, joinKey, RunId } from "./hooks.ts";

const closed = { additionalProperties: false } as const;

/** Returns the route of all names under the hooks' path that mappings define. `authenticateSender` reads the body first. */
export const mappedHookRoute = ({ path, ...hooks }: Config["hooks"], maxBodyBytes: number) =>
  route({
    method: "post",
    path: `${path}/*name`,
    operationId: "callHook",
    tag: "hooks",
    summary: "Call a mapped hook",
    description:
      "Accepts the request of another system, such as a GitHub webhook, and starts what the mapping with this name defines: a run of the agent, or an event of the main session. The first matching entry of `hooks.mappings` handles the request. The body can be any JSON object or array.\n\nIf the mapping has `auth`, the sender authenticates with its own signature or token. Otherwise the hook token is required.",
    example: examples.callHook,
    schemas: {
      params: Type.Object(
        { name: Type.String({ description: "Name of the hook: `match.path` of the mapping." }) },
        closed,
      ),
      query: hookQuery,
      headers: hookHeaders,
      // `authenticateSender` has read the body into `authContext`.
      body: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Array(Type.Unknown())]),
    },
    bodyLimit: maxBodyBytes,
    authContext: "sender",
    answers: {
      200: Type.Object(
        { challenge: Type.String({ description: "The value that Slack sent." }) },
        { ...closed, description: "The answer to Slack's check of the URL, which it sends once." },
      ),
      202: Type.Object(
        {
          ok: s.Ok.properties.ok,
          runId: s.nullable(RunId, { description: "The first of `runIds`; null if there is none." }),
          runIds: Type.Array(Type.String(), {
            description: "The runs: one for each item if the mapping has `forEach`.",
          }),
        },
        closed,
      ),
    },
    errors: ["hook_not_found", "idempotency_conflict"],
    async handler({ headers, authContext }, { stores, queues, clock, metrics }) {
      const { mapping, call, messageId, replayKey } = authContext;
      const body = call.payload;
      const { type, challenge } = body as { type?: unknown; challenge?: unknown };
      if (mapping.auth?.type === "slack" && type === "url_verification" && typeof challenge === "string") {
        return { status: 200, body: { challenge } };
      }
      checkDepth(body);
      const key = headers["idempotency-key"];
      const idempotency =
        key !== undefined && mapping.auth
          ? { key: joinKey("key", mapping.key, key), request: [call.path, messageId ?? body] }
          : idempotencyOf(key, "mapped", call.path, body);
      const message = replayKey === null ? undefined : joinKey("message", mapping.key, replayKey);
      const { runs: mapped, shared } = mappedRuns(mapping, call, hooks, clock.now());
      const context = mappingContext(mapping.key);
      const runs = hooks.shareSessions ? mapped : await withoutForeignSessions(stores, mapped, context);
      const request = { runs, shared, maxWaiting: hooks.maxWaitingRuns };
      const { runIds, waiting } = await acceptMappedRuns(stores, request, { idempotency, message });
      // A run's priority is its position among the waiting runs of its mapping, so that mappings take turns.
      await Promise.all(
        runIds.map((runId, i) => queues.add(mappedHook, { runId }, { jobId: runId, priority: waiting + i + 1 })),
      );
      metrics.hooks.inc({ hook: mapping.key });
      const [runId = null] = runIds;
      const location = runId === null ? {} : { headers: { Location: `/api/runs/${runId}` } };
      return { status: 202, ...location, body: { ok: true as const, runId, runIds } };
    },
  });
