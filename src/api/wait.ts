import type { Context } from "koa";
import type { Caller } from "./auth/caller.ts";
import type { EndingAccess } from "./auth/stillValid.ts";

/** Maximum time that a request waits, in seconds; proxies commonly cut a response that takes longer. */
export const MAX_WAIT_SECONDS = 60;

/** The wait that a request asks for with `Prefer: wait=N`. */
export interface RequestedWait {
  /** From 1 to `MAX_WAIT_SECONDS`. */
  readonly seconds: number;
  /** Aborted once the client no longer waits for the response. */
  readonly gone: AbortSignal;
  /** The caller, who may hold a share of all waits, until its token ends. None for the senders of hooks. */
  readonly caller?: WaitingCaller | undefined;
}

/** The part of a caller that its waits depend on. */
export type WaitingCaller = EndingAccess & Pick<Caller, "actor">;

/**
 * Returns the wait that a request asks for, or null if it asks for none.
 * @param isFull whether its body asks for the longest one
 */
export function requestedWait(ctx: Context, isFull = false): RequestedWait | null {
  const seconds = isFull ? MAX_WAIT_SECONDS : waitSeconds(ctx.get("Prefer"));
  if (seconds === 0) return null;
  const gone = new AbortController();
  ctx.res.once("close", () => gone.abort());
  return { seconds, gone: gone.signal, caller: callerOf(ctx) };
}

/** Returns the caller of a request under `/api`. */
function callerOf({ state: { authContext } }: Context): WaitingCaller | undefined {
  return (authContext as Partial<Caller> | undefined)?.actor === undefined ? undefined : authContext;
}

/**
 * Parses the preference `wait` of the header `Prefer` (RFC 7240, section 2). Node joins several such headers with commas.
 * The first `wait` counts, as the RFC demands. Everything that is not a number of seconds is ignored, because a preference
 * must not fail a request.
 * @returns 0 if the request asks for no wait
 */
export function waitSeconds(header: string): number {
  const unquoted = header.replace(/"([^"]*)"/g, (_, text: string) => (isSeconds(text) ? text : ""));
  for (const preference of unquoted.split(",")) {
    const [name, value = ""] = (preference.split(";", 1)[0] as string).split("=").map((part) => part.trim());
    if (name?.toLowerCase() === "wait") return isSeconds(value) ? Math.min(MAX_WAIT_SECONDS, Number(value)) : 0;
  }
  return 0;
}

const isSeconds = (text: string): boolean => /^\d+$/.test(text);
