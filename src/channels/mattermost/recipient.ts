import type { Clock } from "../../shared/clock.ts";
import { MATTERMOST_RECIPIENT } from "../../shared/recipients/chats.ts";
import type { ApiCaller } from "../http.ts";
import type { Failure } from "../httpStatus.ts";
import { classifyResponse } from "./errors.ts";

type FindOutcome = { readonly kind: "found"; readonly id: string };

const CACHE_TTL_MS = 60 * 60_000;
const MAX_CACHED = 1_000;

/** Parses a recipient into a target and an optional thread; returns undefined if `to` has none of the accepted forms. */
export function readRecipient(
  to: string,
): { readonly target: string; readonly rootId?: string | undefined } | undefined {
  const [, target, rootId] = MATTERMOST_RECIPIENT.exec(to.trim()) ?? [];
  return target === undefined ? undefined : { target, rootId };
}

/** Creates a finder that resolves targets to channel ids and caches them for an hour, or until `forget` is called. */
export function createChannelFinder(callApi: ApiCaller, clock: Clock) {
  const cache = new Map<string, { readonly id: string; readonly until: number }>();
  let ownId: string | undefined;

  /** These requests post no message, so that `ambiguous` becomes `transient` and `content` becomes `gone`. */
  async function requestId(method: "GET" | "POST", path: string, body: object | undefined, signal: AbortSignal) {
    const response = await callApi(method, path, body, signal);
    if (response.kind !== "response") return { kind: "transient", reason: response.reason } satisfies Failure;
    const result = classifyResponse(response);
    if (result.kind === "sent") return { kind: "found", id: result.id as string } satisfies FindOutcome;
    if (result.kind === "ambiguous") return { kind: "transient", reason: result.reason } satisfies Failure;
    if (result.kind === "content") return { kind: "gone", reason: result.reason } satisfies Failure;
    return result;
  }

  async function findDirect(target: string, signal: AbortSignal): Promise<FindOutcome | Failure> {
    const user = target.startsWith("@")
      ? await requestId("GET", `/users/username/${target.slice(1)}`, undefined, signal)
      : ({ kind: "found", id: target.slice("user:".length) } as const);
    if (user.kind !== "found") return user;
    if (!ownId) {
      const own = await requestId("GET", "/users/me", undefined, signal);
      if (own.kind !== "found") return own;
      ownId = own.id;
    }
    return requestId("POST", "/channels/direct", [ownId, user.id], signal);
  }

  async function findNamed(target: string, signal: AbortSignal): Promise<FindOutcome | Failure> {
    const [team, channel] = target.split("/");
    return requestId("GET", `/teams/name/${team}/channels/name/${channel}`, undefined, signal);
  }

  return {
    async find(target: string, signal: AbortSignal): Promise<FindOutcome | Failure> {
      if (!/[:@/]/.test(target)) return { kind: "found", id: target };
      const cached = cache.get(target);
      if (cached && cached.until > clock.now().getTime()) return { kind: "found", id: cached.id };
      const channel = await (target.includes("/") ? findNamed(target, signal) : findDirect(target, signal));
      if (channel.kind === "found") {
        if (cache.size >= MAX_CACHED) cache.clear();
        cache.set(target, { id: channel.id, until: clock.now().getTime() + CACHE_TTL_MS });
      }
      return channel;
    },
    forget(target: string): void {
      cache.delete(target);
    },
  };
}
