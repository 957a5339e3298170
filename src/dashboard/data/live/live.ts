import { signal } from "@preact/signals";
import type { LiveEvent, WatchOptions } from "../../../client/client.ts";
import { checkAccess } from "../access.ts";
import { noticeJob } from "../gate/openGates.ts";
import { service } from "../service.ts";

/**
 * The state of the live connection:
 *
 * - connecting: before the first event;
 * - live: events arrive;
 * - paused: the service has lost its own event source;
 * - away: the service is unreachable;
 * - none: the page follows no events.
 */
export const liveState = signal<"connecting" | "live" | "paused" | "away" | "none">("none");

/** How long a hidden page stays connected: a browser opens at most six connections to one server over HTTP/1.1. */
const HIDDEN_MS = 30_000;

type Data<Type extends LiveEvent["type"]> = Extract<LiveEvent, { type: Type }>["data"];

export type LiveHandlers = {
  /** Called when events begin to arrive or some were lost: read the shown state over the API. */
  readonly onStart: () => void;
  /** Called when the service refuses the stream: its job is gone, or the login has ended. */
  readonly onRefused?: (error: unknown) => void;
  /** Whether a hidden page must learn of events, for a notification. Events stop otherwise after `HIDDEN_MS`. */
  readonly staysConnected?: () => boolean;
} & { readonly [Type in Exclude<LiveEvent["type"], "state" | "reload">]?: (data: Data<Type>) => void };

/** Passes live events to the handlers, and reconnects as needed. Returns a function that stops this. */
export function followLive(what: WatchOptions, handlers: LiveHandlers): () => void {
  liveState.value = "connecting";
  let controller = new AbortController();
  const start = () => {
    controller = new AbortController();
    void follow({ ...what, signal: controller.signal }, handlers);
  };
  const restart = () => {
    controller.abort();
    start();
  };
  // Reconnects at once when the network is back.
  const onOnline = () => {
    if (liveState.value === "away") restart();
  };
  const onOffline = () => {
    liveState.value = "away";
  };
  let timer: ReturnType<typeof setTimeout>;
  const onVisibility = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => handlers.staysConnected?.() || controller.abort(), HIDDEN_MS);
    else if (controller.signal.aborted) start();
  };
  addEventListener("online", onOnline);
  addEventListener("offline", onOffline);
  document.addEventListener("visibilitychange", onVisibility);
  if (document.hidden)
    controller.abort(); // The page was opened in the background; it connects when it becomes visible.
  else start();
  return () => {
    removeEventListener("online", onOnline);
    removeEventListener("offline", onOffline);
    document.removeEventListener("visibilitychange", onVisibility);
    clearTimeout(timer);
    controller.abort();
    liveState.value = "none";
  };
}

async function follow(what: WatchOptions, handlers: LiveHandlers): Promise<void> {
  try {
    for await (const event of service.watch(what)) {
      if (what.signal?.aborted) return;
      dispatch(event, handlers);
    }
  } catch (error) {
    if (what.signal?.aborted) return;
    liveState.value = "none";
    checkAccess(error);
    handlers.onRefused?.(error);
  }
}

function dispatch(event: LiveEvent, handlers: LiveHandlers): void {
  if (event.type === "state") {
    const { live, reason } = event.data;
    liveState.value = live ? "live" : reason ? "away" : "paused";
    if (live) handlers.onStart();
  } else if (event.type === "reload") handlers.onStart();
  else {
    if (event.type === "job") noticeJob(event.data);
    handlers[event.type]?.(event.data as never);
  }
}
