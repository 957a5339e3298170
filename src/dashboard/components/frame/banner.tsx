import { liveState } from "../../data/live/live.ts";
import { Icon } from "../icon.tsx";

const TEXTS = {
  paused:
    "Live updates are paused: the service has lost its connection to Redis. This page may be out of date. Updates resume automatically.",
  away: "Live updates are paused: the service cannot be reached. This page may be out of date. It reconnects automatically.",
} as const;

/** Shows a warning while live updates do not arrive. */
export function Banner() {
  const state = liveState.value;
  if (state !== "paused" && state !== "away") return null;
  return (
    <p class="banner" role="alert">
      <Icon name="warn" /> {TEXTS[state]}
    </p>
  );
}
