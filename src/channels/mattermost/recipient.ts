import type { Clock } from "../../shared/clock.ts";
import type { ApiCaller } from "../http.ts";
import type { Failure } from "../httpStatus.ts";
import { judgeAnswer } from "./errors.ts";

type Found = { readonly kind: "found"; readonly id: string };

const ID = "[a-z0-9]{26}";
const RECIPIENT = new RegExp(`^(${ID}|user:${ID}|@\\w[\\w.-]*|[\\w-]+/[\\w-]+)(?::(${ID}))?$`);

const KEPT_MS = 60 * 60_000;
const MAX_KEPT = 1_000;

/** Where a post goes, and the thread it belongs to; undefined where `to` has none of the forms. */
export function readRecipient(
  to: string,
): { readonly place: string; readonly rootId?: string | undefined } | undefined {
  const [, place, rootId] = RECIPIENT.exec(to.trim()) ?? [];
  return place === undefined ? undefined : { place, rootId };
}

/** Finds the channels that places stand for, and remembers them for an hour, or until they are to be forgotten. */
export function channelFinder(callApi: ApiCaller, clock: Clock) {
  const known = new Map<string, { readonly id: string; readonly until: number }>();
  let ownId: string | undefined;

  /** Nothing is posted by these requests: none leaves it open whether the message was sent, and none is about its text. */
  async function idOf(method: "GET" | "POST", path: string, body: object | undefined, signal: AbortSignal) {
    const response = await callApi(method, path, body, signal);
    if (response.kind !== "response") return { kind: "transient", reason: response.reason } satisfies Failure;
    const result = judgeAnswer(response);
    if (result.kind === "sent") return { kind: "found", id: result.id as string } satisfies Found;
    if (result.kind === "ambiguous") return { kind: "transient", reason: result.reason } satisfies Failure;
    if (result.kind === "content") return { kind: "gone", reason: result.reason } satisfies Failure;
    return result;
  }

  async function findDirect(place: string, signal: AbortSignal): Promise<Found | Failure> {
    const user = place.startsWith("@")
      ? await idOf("GET", `/users/username/${place.slice(1)}`, undefined, signal)
      : ({ kind: "found", id: place.slice("user:".length) } as const);
    if (user.kind !== "found") return user;
    if (!ownId) {
      const own = await idOf("GET", "/users/me", undefined, signal);
      if (own.kind !== "found") return own;
      ownId = own.id;
    }
    return idOf("POST", "/channels/direct", [ownId, user.id], signal);
  }

  async function findNamed(place: string, signal: AbortSignal): Promise<Found | Failure> {
    const [team, channel] = place.split("/");
    return idOf("GET", `/teams/name/${team}/channels/name/${channel}`, undefined, signal);
  }

  return {
    async find(place: string, signal: AbortSignal): Promise<Found | Failure> {
      if (!/[:@/]/.test(place)) return { kind: "found", id: place };
      const kept = known.get(place);
      if (kept && kept.until > clock.now().getTime()) return { kind: "found", id: kept.id };
      const channel = await (place.includes("/") ? findNamed(place, signal) : findDirect(place, signal));
      if (channel.kind === "found") {
        if (known.size >= MAX_KEPT) known.clear();
        known.set(place, { id: channel.id, until: clock.now().getTime() + KEPT_MS });
      }
      return channel;
    },
    forget(place: string): void {
      known.delete(place);
    },
  };
}
