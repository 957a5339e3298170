import Type from "typebox";
import {
  defaultKeyOf,
  expand,
  type HookCall,
  itemsOf,
  type Mapping,
  mappedName,
  mappedSessionKey,
  scopeOf,
} from "../../hooks/mapping.ts";
import { acceptMappedRuns } from "../../models/commands/acceptHook.ts";
import type { Config } from "../../shared/configSchema.ts";
import { AppError } from "../../shared/errors.ts";
import { checkLevels, toJson } from "../../shared/json.ts";
import { mappedHook } from "../../shared/queues.ts";
import { MAIN_SESSION, sessionKeyFault } from "../../shared/sessionKey.ts";
import type { Admitted } from "../middleware/mappedSender.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";
import { hookHeaders, hookQuery, idempotencyOf, refused } from "./hooks.ts";

/** Most items of a `forEach`, and most characters that the rest of the body becomes, which each run carries along. */
const MAX_ITEMS = 1_000;
const MAX_AROUND_CHARS = 32 * 1024 * 1024;
/** Of one call as JSON, which is longer than the body where that has numbers like 1e20: MongoDB ends at 16 MiB. */
const MAX_CALL_BYTES = 15 * 1024 * 1024;

const closed = { additionalProperties: false } as const;

/** Every other name under the hooks' path, as the mappings say. The sender has been admitted before. */
export const mappedHookRoute = ({ path, ...hooks }: Config["hooks"], mostBytes: number) =>
  route({
    method: "post",
    path: `${path}/*name`,
    operationId: "callHook",
    tag: "hooks",
    summary: "What a mapping of this name says: a run of the agent, or an event of the main session",
    description:
      "The first mapping that matches takes the request, whatever its body says. A mapping with `auth` takes its sender's own proof in place of the hook token.",
    schemas: {
      params: Type.Object({ name: Type.String({ description: "`match.path` of the mapping." }) }, closed),
      query: hookQuery,
      headers: hookHeaders,
      body: Type.Object({}, { additionalProperties: true }),
    },
    bodyLimit: mostBytes,
    answers: {
      200: Type.Object(
        { challenge: Type.String() },
        { ...closed, description: "Slack asks for it once, when the address is entered." },
      ),
      202: Type.Object(
        {
          ok: Type.Literal(true),
          runId: s.nullable(Type.String(), { description: "The first of `runIds`." }),
          runIds: Type.Array(Type.String(), { description: "One for each item where the mapping has `forEach`." }),
        },
        closed,
      ),
    },
    errors: ["hook_not_found", "idempotency_conflict"],
    async handler({ headers, body, admitted }, { stores, queues, clock, metrics }) {
      const { mapping, call, replayKey } = admitted as Admitted;
      const { type, challenge } = body as { type?: unknown; challenge?: unknown };
      if (mapping.auth?.type === "slack" && type === "url_verification" && typeof challenge === "string") {
        return { status: 200, body: { challenge } };
      }
      checkLevels(body);
      // The sender's own key comes first: a message that it signed anew is the same to it, an old one it never is.
      const idempotency = [
        idempotencyOf(headers["idempotency-key"], call.path, body),
        replayKey === null ? undefined : idempotencyOf(`${mapping.key} ${replayKey}`, call.path, body),
      ].filter((one) => one !== undefined);
      const runs = callsOf(mapping, call).map((one) => newRun(mapping, one, hooks, clock.now()));
      const runIds = await acceptMappedRuns(stores, runs, idempotency);
      await Promise.all(runIds.map((runId) => queues.add(mappedHook, { runId }, { jobId: runId })));
      metrics.hooks.inc({ hook: mapping.key });
      const [runId = null] = runIds;
      const location = runId === null ? {} : { headers: { Location: `/api/runs/${runId}` } };
      return { status: 202, ...location, body: { ok: true as const, runId, runIds } };
    },
  });

function callsOf(mapping: Mapping, call: HookCall): HookCall[] {
  if (mapping.forEach !== undefined) checkItems(mapping.forEach, itemsOf(mapping, call.payload), call);
  return expand(mapping, call) ?? [];
}

/** Before any call is made of them: a body has room for millions. */
function checkItems(forEach: string, items: readonly unknown[] | undefined, call: HookCall): void {
  if (!items) throw refused(forEach, "must be an array: the mapping makes a run of each of its items");
  if (items.length > MAX_ITEMS)
    throw refused(forEach, `must have at most ${MAX_ITEMS} items: send the rest by themselves`);
  const around = toJson({ ...call, payload: { ...call.payload, [forEach]: [] } }).length;
  if (around * items.length > MAX_AROUND_CHARS) {
    throw refused(forEach, "has too many items for what stands around it: each run carries the rest of the body along");
  }
}

function newRun(mapping: Mapping, call: HookCall, hooks: Omit<Config["hooks"], "path">, now: Date) {
  const scope = scopeOf(mapping, call, now);
  const own = mappedSessionKey(mapping, scope) ?? defaultKeyOf(mapping, hooks);
  const isUsable = own !== undefined && own.length <= 256 && !sessionKeyFault(own, hooks.allowedSessionKeyPrefixes);
  return {
    kind: mapping.action,
    name: mappedName(mapping, scope),
    // one that may not be used fails the run when the worker comes to it
    sessionKey: mapping.action === "wake" ? MAIN_SESSION : isUsable ? own : undefined,
    mapped: { mapping: mapping.key, call: pack(call), wakeMode: mapping.wakeMode },
  };
}

function pack(call: HookCall): string {
  const text = toJson(call);
  if (Buffer.byteLength(text) <= MAX_CALL_BYTES) return text;
  throw new AppError("body_too_large", { detail: `The body is larger than ${MAX_CALL_BYTES} bytes as it is kept.` });
}
