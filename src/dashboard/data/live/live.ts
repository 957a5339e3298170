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

/** Maximum wait for the first answer to the request for events before the state is read without it. */
const START_WITHIN_MS = 1_000;

type Data<Type extends LiveEvent["type"]> = Extract<LiveEvent, { type: Type }>["data"];

export type LiveHandlers = {
  /**
   * Called when the shown state must be read over the API: once the service has answered, at the latest after
   * `START_WITHIN_MS`, and again whenever events begin to arrive or some were lost.
   */
  readonly onStart: () => void;
  /** Called when the service refuses the stream: its job is gone, or the login has ended. */
  readonly onRefused?: (error: unknown) => void;
  /** Whether a hidden page must learn of events, for a notification. Events stop otherwise after `HIDDEN_MS`. */
  readonly staysConnected?: () => boolean;
} & { readonly [Type in Exclude<LiveEvent["type"], "state" | "reload">]?: (data: Data<Type>) => void };

/** Passes live events to the handlers, and reconnects as needed. Returns a function that stops this. */
export function followLive(what: WatchOptions, handlers: LiveHandlers): () => void {
  liveState.value = "connecting";
  let hasStarted = false;
  const onStart = () => {
    clearTimeout(startTimer);
    hasStarted = true;
    handlers.onStart();
  };
  const startTimer = setTimeout(onStart, START_WITHIN_MS);
  let controller = new AbortController();
  const start = () => {
    controller = new AbortController();
    const onAnswer = () => hasStarted || onStart();
    void follow({ ...what, signal: controller.signal }, { ...handlers, onStart, onAnswer });
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
    clearTimeout(startTimer);
    controller.abort();
    liveState.value = "none";
  };
}

type Following = LiveHandlers & { readonly onAnswer: () => void };

async function follow(what: WatchOptions, handlers: Following): Promise<void> {
  try {
    for await (const event of service.watch(what)) {
      if (what.signal?.aborted) return;
      dispatch(event, handlers);
    }
  } catch (error) {
    if (what.signal?.aborted) return;
    liveState.value = "none";
    checkAccess(error);
    handlers.onAnswer();
    handlers.onRefused?.(error);
  }
}

function dispatch(event: LiveEvent, handlers: Following): void {
  if (event.type === "state") {
    const { live, reason } = event.data;
    liveState.value = live ? "live" : reason ? "away" : "paused";
    if (live) handlers.onStart();
    else handlers.onAnswer();
  } else if (event.type === "reload") handlers.onStart();
  else {
    if (event.type === "job") noticeJob(event.data);
    handlers[event.type]?.(event.data as never);
  }
}
