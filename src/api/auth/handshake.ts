import type { Context, Middleware } from "koa";
import { hookName, type JsonBody, type Mapping, mappingsNamed } from "../../hooks/mappings/mapping.ts";
import { secretsEqual } from "../../shared/access/secretsEqual.ts";
import { isObject } from "../../shared/text/json.ts";

/** Maximum length of a validation token that is sent back, in characters. Microsoft Graph sends some hundred. */
const MAX_TOKEN_CHARS = 4_096;

/** Returns whether a request by GET may be the one with which Meta verifies the URL of a hook. */
export const expectsHandshake = (mappings: readonly Mapping[], name: string, method: string): boolean =>
  method === "GET" && mappingsNamed(mappings, name).some(({ handshake }) => handshake === "meta");

/**
 * Returns what the verification of a URL by Meta must be answered with.
 * @returns null if no mapping of the name expects the verify token
 */
export function answerMeta(
  mappings: readonly Mapping[],
  name: string,
  { mode, challenge, token }: { readonly mode: string; readonly challenge: string; readonly token: string },
): string | null {
  const expected = mappingsNamed(mappings, name).filter(({ handshake }) => handshake === "meta");
  const isKnown = expected.map(({ verifyToken = "" }) => secretsEqual(token, verifyToken)).includes(true);
  return mode === "subscribe" && isKnown ? challenge : null;
}

/**
 * Answers the request with which Microsoft Graph verifies a URL: it requires its `validationToken` in a text response
 * within ten seconds. The request has no credentials. The answer opens nothing, because each notification is authenticated.
 */
export function answerGraph(mappings: readonly Mapping[], basePath: string): Middleware {
  const named = (ctx: Context) => mappingsNamed(mappings, hookName(basePath, ctx.path));
  return (ctx, next) => {
    const { validationToken } = ctx.query;
    const isHandshake = ctx.method === "POST" && typeof validationToken === "string";
    if (!isHandshake || !named(ctx).some(({ handshake }) => handshake === "microsoft-graph")) return next();
    ctx.type = "text/plain; charset=utf-8";
    ctx.body = validationToken.slice(0, MAX_TOKEN_CHARS);
  };
}

/** Returns whether every notification in a body has the `clientState` that the mapping expects, if it expects one. */
export function hasClientState({ handshake, verifyToken = "" }: Mapping, payload: JsonBody): boolean {
  if (handshake !== "microsoft-graph") return true;
  const { value } = payload as { value?: unknown };
  if (!Array.isArray(value)) return false;
  return value.every(
    (one) => isObject(one) && typeof one.clientState === "string" && secretsEqual(one.clientState, verifyToken),
  );
}
