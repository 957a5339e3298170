import type { Failure } from "./httpStatus.ts";

const MAX_CACHED_USERS = 10_000;

/** A channel's id, or why there is none. */
export type OpenResult = { readonly kind: "opened"; readonly id: string } | Failure;

/**
 * Remembers the channels that a service has opened to its users: each is asked for once by this process, unless it is to be
 * forgotten. What keeps one from being opened is told as what it means for the message, of which nothing was sent yet.
 */
export function createDirectChannelCache(open: (user: string, signal: AbortSignal) => Promise<OpenResult>) {
  const idByUser = new Map<string, string>();
  return {
    async find(user: string, signal: AbortSignal): Promise<OpenResult> {
      const id = idByUser.get(user);
      if (id !== undefined) return { kind: "opened", id };
      const opened = await open(user, signal);
      if (opened.kind === "ambiguous") return { kind: "transient", reason: opened.reason };
      if (opened.kind === "content" || opened.kind === "refused") return { kind: "gone", reason: opened.reason };
      if (opened.kind === "opened") {
        if (idByUser.size >= MAX_CACHED_USERS) idByUser.clear();
        idByUser.set(user, opened.id);
      }
      return opened;
    },
    forget(user: string): void {
      idByUser.delete(user);
    },
  };
}
