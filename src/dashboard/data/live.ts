import type { LiveEvent, WatchOptions } from "../../client/client.ts";
import { checkAccess } from "./access.ts";
import { service } from "./service.ts";
import { Store } from "./store.ts";

/**
 * Whether changes arrive: `connecting` before the first word, `paused` while the service itself hears nothing, `away` while
 * it cannot be reached, `none` where there is nothing to follow.
 */
export const liveState = new Store<"connecting" | "live" | "paused" | "away" | "none">("none");

/** A page that nobody looks at lets go: a browser keeps no more than six connections to one server. */
const HIDDEN_MS = 30_000;

type Data<Type extends LiveEvent["type"]> = Extract<LiveEvent, { type: Type }>["data"];

export type LiveHandlers = {
  /** From now on everything arrives, or something has been missed: read what you show, over the API. */
  readonly onStart: () => void;
  /** The stream is refused, for good: what it was about is gone, or the log-in has ended. */
  readonly onRefused?: (error: unknown) => void;
} & { readonly [Type in Exclude<LiveEvent["type"], "state" | "reload">]?: (data: Data<Type>) => void };

/** Hands on what happens until it is ended, over any number of connections. @returns what ends it */
export function followLive(what: WatchOptions, handlers: LiveHandlers): () => void {
  liveState.set("connecting");
  let controller = new AbortController();
  const start = () => {
    controller = new AbortController();
    void follow({ ...what, signal: controller.signal }, handlers);
  };
  const restart = () => {
    controller.abort();
    start();
  };
  // Whoever comes back to the network does not wait until it is tried again.
  const onOnline = () => {
    if (liveState.value === "away") restart();
  };
  const onOffline = () => liveState.set("away");
  let timer: ReturnType<typeof setTimeout>;
  const onVisibility = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => controller.abort(), HIDDEN_MS);
    else if (controller.signal.aborted) start();
  };
  addEventListener("online", onOnline);
  addEventListener("offline", onOffline);
  document.addEventListener("visibilitychange", onVisibility);
  if (document.hidden)
    controller.abort(); // opened behind the others: until somebody looks
  else start();
  return () => {
    removeEventListener("online", onOnline);
    removeEventListener("offline", onOffline);
    document.removeEventListener("visibilitychange", onVisibility);
    clearTimeout(timer);
    controller.abort();
    liveState.set("none");
  };
}

async function follow(what: WatchOptions, handlers: LiveHandlers): Promise<void> {
  try {
    for await (const event of service.watch(what)) {
      if (what.signal?.aborted) return;
      take(event, handlers);
    }
  } catch (error) {
    if (what.signal?.aborted) return;
    liveState.set("none");
    checkAccess(error);
    handlers.onRefused?.(error);
  }
}

function take(event: LiveEvent, handlers: LiveHandlers): void {
  if (event.type === "state") {
    const { live, reason } = event.data;
    liveState.set(live ? "live" : reason ? "away" : "paused");
    if (live) handlers.onStart();
  } else if (event.type === "reload") handlers.onStart();
  else handlers[event.type]?.(event.data as never);
}
