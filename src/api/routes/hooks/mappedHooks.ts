import { randomUUID } from "node:crypto";
import Type from "typebox";
import type { Config } from "../../../config/config.ts";
import type { JsonBody, Mapping } from "../../../hooks/mappings/mapping.ts";
import { labelOf } from "../../../hooks/mappings/requestLabel.ts";
import type { SnsAuth, SnsMessage } from "../../../hooks/signatures/sns.ts";
import type { NewHookRequest } from "../../../models/intake/hookRequest.ts";
import { AppError } from "../../../shared/errors.ts";
import { checkDepth, toJson } from "../../../shared/text/json.ts";
import * as s from "../../../wire/blocks.ts";
import { answerMeta } from "../../auth/handshake.ts";
import type { AuthenticatedSender } from "../../auth/hookAuth.ts";
import { maskedHead } from "../../auth/withoutSecrets.ts";
import type { ApiDeps } from "../../deps.ts";
import * as examples from "../../examples/gateway.ts";
import * as inboxExamples from "../../examples/inbox.ts";
import { startRuns } from "../../inbox/startRuns.ts";
import { route } from "../../routing/route.ts";
import * as q from "../../schemas/requests.ts";
import { hookHeaders, hookQuery, idempotencyOf, joinKey, RunId } from "./hooks.ts";

/** Returns the route of all names under the hooks' path that mappings define. `authenticateSender` reads the body first. */
export const mappedHookRoute = ({ path }: Config["hooks"], maxBodyBytes: number) =>
  route({
    method: "post",
    path: `${path}/*name`,
    operationId: "callHook",
    scopes: ["hooks:NAME"],
    tag: "hooks",
    summary: "Call a mapped hook",
    description:
      "Accepts the request of another system, such as a GitHub webhook, and starts what the mapping with this name defines: a run of the agent, or an event of the main session. The first matching entry of `hooks.mappings` handles the request. If `match.when` of every mapping with the name leaves it out, nothing starts and `runIds` is empty. The body can be any JSON object or array, compressed with gzip or deflate, and other types that the mapping names in `accept`.\n\nIf the mapping has `auth`, the sender authenticates with its own signature or token. Otherwise the hook token is required.",
    example: examples.callHook,
    schemas: {
      params: Type.Object(
        { name: Type.String({ description: "Name of the hook: `match.path` of the mapping." }) },
        q.closed,
      ),
      query: hookQuery,
      headers: hookHeaders,
      // `authenticateSender` has read the body into `authContext`.
      body: Type.Union([s.FreeObject("Any JSON object."), Type.Array(Type.Unknown())], { title: "HookBody" }),
    },
    bodyLimit: maxBodyBytes,
    authContext: "sender",
    answers: {
      200: Type.Object(
        { challenge: Type.String({ description: "The value that Slack sent." }) },
        { ...s.named("Challenge"), description: "The answer to Slack's check of the URL, which it sends once." },
      ),
      202: Type.Object(
        {
          ok: s.Ok.properties.ok,
          runId: s.nullable(RunId, { description: "The first of `runIds`; null if there is none." }),
          runIds: Type.Array(Type.String(), {
            description: "The runs: one for each item if the mapping has `forEach`.",
          }),
        },
        s.named("AcceptedHook"),
      ),
    },
    errors: ["hook_not_found", "idempotency_conflict"],
    async handler({ headers, authContext: sender }, deps) {
      const { clock, hooks, stores } = deps;
      const { call, mapping } = sender;
      const body = call.payload;
      const kept =
        hooks.keepRequests === undefined
          ? null
          : keptRequest(sender, clock.now(), hooks.compat === "openclaw" ? 200 : 202);
      const isConfirmation = mapping.auth?.type === "sns" && (await confirmSubscription(deps, mapping.auth, body));
      if (sender.kind === "filtered" || isConfirmation) {
        const reason = isConfirmation ? "The message is about the subscription: it starts no run." : kept?.reason;
        if (kept) await stores.hookRequests.add({ ...kept, outcome: "filtered", reason: reason ?? null });
        return { status: 202, body: { ok: true as const, runId: null, runIds: [] } };
      }
      const { type, challenge } = body as { type?: unknown; challenge?: unknown };
      if (mapping.auth?.type === "slack" && type === "url_verification" && typeof challenge === "string") {
        const reason = "Slack verified the URL: the request starts no run.";
        if (kept) await stores.hookRequests.add({ ...kept, outcome: "filtered", status: 200, reason });
        return { status: 200, body: { challenge } };
      }
      const { messageId, replayKey } = sender;
      checkDepth(body);
      const key = headers["idempotency-key"];
      const idempotency =
        key !== undefined && mapping.auth
          ? { key: joinKey("key", mapping.key, key), request: [call.path, messageId ?? body] }
          : idempotencyOf(key, "mapped", call.path, body);
      const message = replayKey === null ? undefined : joinKey("message", mapping.key, replayKey);
      const runIds = await startRuns(deps, mapping, call, { idempotency, message, kept });
      const [runId = null] = runIds;
      const location = runId === null ? {} : { headers: { Location: `/api/runs/${runId}` } };
      return { status: 202, ...location, body: { ok: true as const, runId, runIds } };
    },
  });

/**
 * Confirms a subscription if a message of Amazon SNS asks for it.
 * @returns whether the message only concerns a subscription, so that it starts no run
 * @throws AppError unavailable, unauthorized
 */
async function confirmSubscription({ sns }: ApiDeps, auth: SnsAuth, body: JsonBody): Promise<boolean> {
  const message = body as unknown as SnsMessage; // verified
  if (message.Type === "SubscriptionConfirmation") await sns.confirm(auth, message);
  return message.Type !== "Notification";
}

/** Returns the route with which Meta verifies the URL of a hook, once. */
export const metaHandshakeRoute = ({ path }: Config["hooks"], mappings: readonly Mapping[]) => {
  const text = (description: string) => Type.String({ maxLength: 4_096, description });
  return route({
    method: "get",
    path: `${path}/*name`,
    operationId: "verifyHook",
    scopes: [],
    tag: "hooks",
    summary: "Answer Meta's verification of a hook",
    description:
      'Returns `hub.challenge` if `hub.verify_token` is the `verifyToken` of a mapping with this name and `handshake: "meta"`. Meta sends this request once, when you enter the URL.',
    example: inboxExamples.verifyHook,
    schemas: {
      params: Type.Object(
        { name: Type.String({ description: "Name of the hook: `match.path` of the mapping." }) },
        q.closed,
      ),
      query: Type.Object(
        {
          "hub.mode": text("Always `subscribe`."),
          "hub.challenge": text("The text to return."),
          "hub.verify_token": text("The verify token that you entered at Meta."),
        },
        { additionalProperties: true },
      ),
    },
    answers: { 200: Type.String({ description: "The value of `hub.challenge`." }) },
    errors: [],
    async handler({ params, query }) {
      const { "hub.mode": mode, "hub.challenge": challenge, "hub.verify_token": token } = query;
      const answer = answerMeta(mappings, params.name, { mode, challenge, token });
      if (answer !== null)
        return { status: 200, headers: { "Content-Type": "text/plain; charset=utf-8" }, body: answer };
      throw new AppError("forbidden", {
        detail: "The verify token is not that of this hook: enter the verifyToken of its mapping at the sender.",
      });
    },
  });
};

/** Returns a request as it is kept. @param status the HTTP status of the response */
function keptRequest(sender: AuthenticatedSender, createdAt: Date, status: number): NewHookRequest {
  const { kind, mapping, call, received } = sender;
  const { body, contentType, address, signature, readNames } = received;
  return {
    _id: randomUUID(),
    createdAt,
    hook: call.path,
    mapping: mapping.key,
    ...labelOf(call),
    status,
    ...(kind === "filtered" ? { outcome: kind, reason: sender.reason } : { outcome: "accepted" }),
    signature,
    address,
    contentType,
    body,
    head: toJson(maskedHead(call, readNames)),
  };
}
