import type { Failure } from "./httpStatus.ts";

const MAX_CACHED_USERS = 10_000;

/** The id of a user's direct channel, or the reason why it cannot be opened. */
export type OpenOutcome = { readonly kind: "opened"; readonly id: string } | Failure;

/**
 * Creates a cache of direct channels, which a service opens to its users on request. `find` calls `open` once for each user
 * until `forget` is called. A failure to open is converted to its meaning for the message, which has not been sent yet:
 * `ambiguous` becomes `transient`; `content` and `refused` become `gone`.
 */
export function createDirectChannelCache(open: (user: string, signal: AbortSignal) => Promise<OpenOutcome>) {
  const idByUser = new Map<string, string>();
  return {
    async find(user: string, signal: AbortSignal): Promise<OpenOutcome> {
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
