import { liveState } from "../data/live.ts";
import { Icon } from "./icon.tsx";

const TEXTS = {
  paused:
    "Live updates paused: the service has lost its connection to Redis. What you see may be out of date; it goes on by itself.",
  away: "Live updates paused: the service cannot be reached. This page tries again by itself; what you see may be out of date.",
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
